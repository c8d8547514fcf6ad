"""The debugger of an editor for a bot in Python (`torres ask --debug`)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread

import click

from torres.cli.play import LocalBot
from torres.common.quoting import printable
from torres.runner.sandbox import Level, Program

PROGRAM = Path(__file__).with_name("debugged_bot.py")
_POLL_S = 0.1

debug_option = click.option(
    "--debug",
    type=click.IntRange(1, 65_535),
    metavar="PORT",
    help="Let a bot in Python wait for a debugger on this port of 127.0.0.1.",
)


def with_debugger(bot: LocalBot, port: int, level: Level) -> Program:
    """Return the program of a bot that waits for a debugger before its first line.

    It runs in our own Python, because debugpy is installed there. Raises BadParameter.
    """
    if bot.program.language != "python":
        raise click.BadParameter(
            f"it works with bots in Python only, and this one is in"
            f" {bot.program.language}; use --no-clock, and attach the debugger of that"
            " language to the process of the bot",
            param_hint="--debug",
        )
    if level != "none":
        raise click.BadParameter(
            "no debugger reaches a bot in a sandbox; use --sandbox none",
            param_hint="--debug",
        )
    if find_spec("debugpy") is None:
        raise click.BadParameter(
            f"the package debugpy is not installed in {sys.executable}; install it with"
            " the program that installed torres, for example `pip install debugpy`",
            param_hint="--debug",
        )
    # The debugger cannot follow frozen modules, and -P keeps our folder off the path.
    options = ("-s", "-B", "-u", "-P", "-X", "frozen_modules=off")
    command = (sys.executable, *options, str(PROGRAM), str(port))
    return replace(bot.program, argv=(*command, bot.program.entry))


class FollowedLog:
    """The stderr of a bot in a file, which is printed while the bot writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ended = Event()
        self._position = 0

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Print each line when it is complete, and at the end also the rest."""
        thread = Thread(target=self._follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(_POLL_S):
            self._print_new(complete=True)
        self._print_new(complete=False)

    def _print_new(self, *, complete: bool) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._position)
            new = file.read()
        if complete:
            new = new[: new.rfind(b"\n") + 1]
        self._position += len(new)
        for line in new.decode("utf-8", "replace").splitlines():
            click.echo(f"  | {printable(line)}", err=True)
