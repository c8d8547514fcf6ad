"""The `torres` command: play at home with the referee of the server."""

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
    """Play Torres with bots, and look at what they played."""


for command in (play, tournament, verify, trace, show, rulesets, doctor):
    torres.add_command(command)


REFUSALS = (click.ClickException, EngineError, LadderError, ServiceFault, OSError)


def main() -> None:
    """Run the command; a bad argument is one line on stderr and exit code 2."""
    try:
        code = torres.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.exceptions.NoArgsIsHelpError as refusal:
        refusal.show()
        code = BAD_ARGUMENT
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader left (torres trace … | head); there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except REFUSALS as refusal:
        code = _refuse(refusal)
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(refusal: Exception) -> int:
    """Print what was wrong as one line; return the exit code."""
    match refusal:
        case click.ClickException():
            message = refusal.format_message()
        case ServiceFault():
            message = f"this machine failed, not a bot: {refusal}"
        case OSError(filename=str(name)):
            message = f"{name}: {refusal.strerror}"
        case _:
            message = str(refusal)
    click.echo(f"torres: {' '.join(message.split())}", err=True)
    return FAILED if isinstance(refusal, ServiceFault) else BAD_ARGUMENT
