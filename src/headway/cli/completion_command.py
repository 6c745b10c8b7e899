"""`headway completion`: the script that makes a shell complete our words, and how to install it."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from headway.cli.options import examples

PROGRAM: Final = "headway"
VARIABLE: Final = "_HEADWAY_COMPLETE"  # as click looks for it, from the program's name
INSTALLS: Final = {
    "bash": 'Add to ~/.bashrc (bash 4.4 or newer):  eval "$(headway completion bash)"',
    "zsh": 'Add to ~/.zshrc, after compinit:  eval "$(headway completion zsh)"',
    "fish": "Run once:  headway completion fish > ~/.config/fish/completions/headway.fish",
}


@click.command(
    "completion",
    epilog=examples(
        'eval "$(headway completion bash)"        # in ~/.bashrc',
        'eval "$(headway completion zsh)"         # in ~/.zshrc, after compinit',
        "headway completion fish > ~/.config/fish/completions/headway.fish",
    ),
)
@click.argument("shell", type=click.Choice(list(INSTALLS)))
def command(shell: str) -> None:
    """Print the script that completes commands, options and ids in SHELL.

    Its first line, a comment, says how to install it. `headway` must be on your PATH.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    parent = click.get_current_context().find_root().command
    # Only the text is asked for: click's own way also runs the shell to learn its version.
    script = kind(parent, {}, PROGRAM, VARIABLE)
    click.echo(f"# {INSTALLS[shell]}")
    click.echo(script.source_template % script.source_vars())
