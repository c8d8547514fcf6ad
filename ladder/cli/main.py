"""The `torres` command: it joins the subcommands and turns errors into exit codes.

Every expected error is one line on stderr. Exit code 2 means a bad argument or an
unreadable file, 1 a failure of this machine.
"""

import os
import sys

import click

from engine.errors import EngineError
from engine.referee import ServiceFault
from ladder.cli.doctor import doctor
from ladder.cli.play import play
from ladder.cli.replays import show, trace, verify
from ladder.cli.rulesets import rulesets
from ladder.cli.tournament import tournament
from ladder.common.errors import LadderError

FAILED = 1
BAD_ARGUMENT = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="torres-ladder")
def torres() -> None:
    """Play Torres games and tournaments between bots, and look at their replays."""


for command in (play, tournament, verify, trace, show, rulesets, doctor):
    torres.add_command(command)


EXPECTED_ERRORS = (
    click.ClickException,
    EngineError,
    LadderError,
    ServiceFault,
    OSError,
)


def main() -> None:
    """Run the command and exit with its exit code."""
    try:
        code = torres.main(standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = BAD_ARGUMENT
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left (torres trace … | head). Python flushes stdout
        # at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except EXPECTED_ERRORS as error:
        code = _print_error(error)
    sys.exit(code if isinstance(code, int) else 0)


def _print_error(error: Exception) -> int:
    """Print an error as one line on stderr; return the exit code."""
    match error:
        case click.ClickException():
            message = error.format_message()
        case ServiceFault():
            message = f"this machine failed, not a bot: {error}"
        case OSError(filename=str(name)):
            message = f"{name}: {error.strerror}"
        case _:
            message = str(error)
    click.echo(f"torres: {' '.join(message.split())}", err=True)
    return FAILED if isinstance(error, ServiceFault) else BAD_ARGUMENT
