"""The `torres` command: it runs a subcommand and turns errors into exit codes.

Every expected error is one line on stderr. docs/cli.md has the exit codes. The module
imports little: `commands` has the table of the subcommands.
"""

import os
import sys
from importlib import import_module

import click
from click.shell_completion import add_completion_class

import engine
from engine.errors import EngineError
from engine.referee import ServiceFault
from torres.cli.commands import PLAYING, LazyGroup
from torres.cli.compiling import compile_advice
from torres.cli.completion import ColonBashComplete
from torres.common.errors import LadderError

FAILED = 1
BAD_ARGUMENT = 2
INTERRUPTED = 130


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, is_given: _print_versions(ctx) if is_given else None,
    help="Show the versions of the command, the rules and the formats.",
)
@click.pass_context
def torres(ctx: click.Context) -> None:
    """Write, check and play bots for the board game Torres."""
    asks_for_help = not {"-h", "--help"}.isdisjoint(sys.argv)
    plays = ctx.invoked_subcommand in PLAYING and not asks_for_help
    if plays and not engine.compiled:
        click.echo(f"torres: the engine is {compile_advice()}.", err=True)


def _print_versions(ctx: click.Context) -> None:
    # Other commands do not need the module.
    found: dict[str, str] = import_module("torres.runner.versions").versions()
    click.echo(f"torres, version {found['torres']}")
    for name in list(found)[1:]:
        click.echo(f"{name}: {found[name]}")
    ctx.exit()


EXTRAS = {
    "cryptography": "audit",
    "gymnasium": "env",
    "numpy": "env",
    "pettingzoo": "env",
    "PIL": "pictures",
}
"""The extra that brings a package which only some commands need."""
EXPECTED_ERRORS = (
    click.ClickException,
    EngineError,
    LadderError,
    ServiceFault,
    OSError,
)


def main() -> None:
    """Run the command and exit with its exit code.

    If the shell asks for completions, print them instead.
    """
    add_completion_class(ColonBashComplete)
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
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        code = _print_error(_package_missing(error.name))
    sys.exit(code if isinstance(code, int) else 0)


def _package_missing(name: str) -> click.ClickException:
    """Return the error of a command that needs a package of an extra."""
    return click.ClickException(
        f"this needs the package {name.lower()}. Install it:"
        f" pip install 'torres-ladder[{EXTRAS[name]}]'"
    )


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
    if isinstance(error, click.ClickException):
        return error.exit_code
    return FAILED if isinstance(error, ServiceFault) else BAD_ARGUMENT
