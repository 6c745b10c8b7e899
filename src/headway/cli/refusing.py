"""How a command ends that could not do what was asked: in words, or as one JSON document.

Laws.
1. stdout holds the answer and nothing else; a refusal goes to stderr.
2. With `--json` it is the envelope that MCP clients get too: code, message, retry, details.
3. Ctrl-C ends with 130, at a question as anywhere else.
4. A stdout that takes no more is a refusal too; one whose reader has left ends the command quietly.
5. So is a folder that was removed under whoever stands in it, for a command that has to know it.
"""

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from headway.cli.stdout import StdoutLost, forget_stdout

EXIT_INTERRUPTED: Final = 130
JSON_OPTION: Final = "--json"
NOT_RETRYABLE: Final = {"kind": "not_retryable"}


class Refusal(click.ClickException):
    """A refusal with its envelope."""

    def __init__(self, envelope: Mapping[str, object]) -> None:
        details = envelope["details"]
        assert isinstance(details, Mapping)
        remedy = f"\n{details['suggestion']}" if details.get("suggestion") else ""
        super().__init__(f"{envelope['message']}{remedy}")
        self.envelope: Final = envelope


class CannotTell(Refusal):
    """A command that found out nothing, where 1 means that it found something."""

    exit_code = 2


def envelope(message: str, remedy: str, code: str = "PRECONDITION_FAILED") -> dict[str, object]:
    """Return the envelope of a refusal that no verb raised."""
    details = {"suggestion": remedy}
    return {"code": code, "message": message, "retry": NOT_RETRYABLE, "details": details}


@contextmanager
def refusing(ctx: click.Context, args: Sequence[str]) -> Iterator[None]:
    """Turn how a command may fail into how it is told. `args` are the words it was called with."""
    try:
        with _stdout_refused(), _lost_folder_refused():
            yield
    except click.ClickException as error:
        if not _asks_for_json(args):
            raise
        import json

        click.echo(json.dumps(_envelope(error), indent=2), err=True)
        ctx.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo(err=True)  # ends the line with the terminal's ^C
        ctx.exit(EXIT_INTERRUPTED)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            ctx.exit(EXIT_INTERRUPTED)
        raise


@contextmanager
def _stdout_refused() -> Iterator[None]:
    try:
        yield
    except StdoutLost as lost:
        if lost.errno == errno.EPIPE:
            raise  # click ends it quietly
        forget_stdout()
        what = f"stdout takes no more of what there is to tell ({lost.strerror})."
        remedy = "Make room, or send it elsewhere; what the command had done by then stands."
        raise Refusal(envelope(what, remedy, "STDOUT_UNUSABLE")) from lost


@contextmanager
def _lost_folder_refused() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        try:
            Path.cwd()
        except FileNotFoundError:
            what = "The folder you are in is not there any more."
            raise Refusal(envelope(what, "Change into one that is.", "FOLDER_GONE")) from error
        raise


def _asks_for_json(args: Sequence[str]) -> bool:
    options = args[: args.index("--")] if "--" in args else args
    return JSON_OPTION in options


def _envelope(error: click.ClickException) -> Mapping[str, object]:
    if isinstance(error, Refusal):
        return error.envelope
    context = error.ctx if isinstance(error, click.UsageError) else None
    suggestion = f"See: {context.command_path} --help" if context else "See: headway --help"
    return envelope(error.format_message(), suggestion, "VALIDATION_ERROR")
