"""`headway mcp`: one MCP client, served on stdin and stdout, in this process.

Where a server serves this home, `__main__` has let the relay take the command, and this module is
not reached.
stdout carries the protocol alone; the log goes to stderr. Settings that cannot be used are refused
before anything is opened.
"""

import gc
import logging
import sys
from typing import Final

import click

from headway import __version__
from headway.application.faults import Fault, fault_reply
from headway.bootstrap import open_verbs
from headway.cli.clients import help_lines
from headway.config import ConfigError, Settings, process_settings
from headway.mcp.lines import tell_a_person
from headway.mcp.server import build_server
from headway.mcp.stdio import serve_stdio
from headway.sealing import keep_to_itself

EXIT_INTERRUPTED: Final = 130
LOG_FORMAT: Final = "%(levelname)s %(name)s: %(message)s"

logger = logging.getLogger("headway")


@click.command("mcp", epilog=help_lines())
@click.option("--in-process", is_flag=True, help="Serve here even while headway up runs.")
def command(*, in_process: bool) -> None:  # noqa: ARG001 - its absence is what the relay looks for
    """Serve the seven MCP tools on stdin and stdout, through headway up where it runs.

    An MCP client starts it by itself, and ends it by closing stdin. stdout carries the protocol
    alone, the log goes to stderr.
    """
    gc.disable()  # what start-up makes lives as long as the process: looking through it is in vain
    tell_a_person()
    settings = _settings()
    logging.basicConfig(stream=sys.stderr, level=settings.log_level.upper(), format=LOG_FORMAT)
    keep_to_itself()
    for warning in settings.warnings:
        logger.warning(warning)
    try:
        with open_verbs(settings) as verbs:
            server = build_server(verbs, __version__, str(settings.user_home))
            gc.freeze()
            gc.enable()
            serve_stdio(server)
    except Fault as fault:
        reply = fault_reply(fault, str(settings.user_home))
        raise click.ClickException(f"{reply['code']}: {reply['message']} {fault.remedy}") from fault
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _settings() -> Settings:
    try:
        return process_settings()
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
