"""`headway keys`: the keys that sign tokens."""

import click

from headway.application.rotate_keys import rotate_keys
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json


@click.group("keys")
def command() -> None:
    """Look after the keys that sign tokens."""


@command.command(
    "rotate",
    short_help="Draw a new key; tokens of the last one stay good.",
    epilog=examples("headway keys rotate"),
)
@json_option
def rotate_command(*, as_json: bool) -> None:
    """Draw a new key. Tokens of the key before it stay good until the next rotation."""
    with opened() as (_, engine):
        kept = rotate_keys(engine)
    if as_json:
        print_json({"rotated": True, "previousStaysGood": kept})
        return
    click.echo("A new key signs tokens from now on.")
    if kept:
        click.echo("Tokens of the key before it stay good until the next rotation.")
