"""`torres verify`, `trace` and `show`: replay files on the command line."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.text import Text

from engine.replay import trace as trace_lines, verify as verify_replay
from engine.replay_format import InvalidReplay, NotJson, load
from ladder.cli.board_text import frames

MAX_BYTES = 64 * 1024 * 1024  # of one replay file; a long game has some 20 KB
VALID, INVALID, UNREADABLE = range(3)  # which are also the exit codes
_WORTH_A_PROCESS = 200  # files; below that, starting processes costs more than it saves
_CHUNK = 25


class Invalid(click.ClickException):
    """One line on stderr, and the exit code of contract.md, section 9."""

    exit_code = INVALID

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


class Unreadable(Invalid):
    exit_code = UNREADABLE


@contextmanager
def open_pipe() -> Iterator[None]:
    """Let the reader of our output leave early, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit; there it must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read(path: str) -> object:
    """Return the JSON value of a file; raise NotJson, or InvalidReplay at `setup`."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotJson(reason or "it cannot be read") from None
    if len(data) > MAX_BYTES:
        raise NotJson(f"more than {MAX_BYTES} bytes")
    return load(data)


def printable(text: str) -> str:
    """Return a text as one line that cannot steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def judge(path: str) -> tuple[int, str]:
    """Return a file's verdict, and the line that says it."""
    name = printable(path)
    try:
        verify_replay(read(path))
    except InvalidReplay as fault:
        return INVALID, f"{name}: invalid: {printable(str(fault))}"
    except NotJson as error:
        return UNREADABLE, f"{name}: {printable(str(error))}"
    return VALID, f"{name}: valid"


def _cores() -> int:
    """Count the processors that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _judge_all(paths: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    cores = _cores()
    if cores == 1 or len(paths) < _WORTH_A_PROCESS:
        yield from map(judge, paths)
        return
    with ProcessPoolExecutor(cores) as pool:
        yield from pool.map(judge, paths, chunksize=_CHUNK)


@click.command()
@click.argument("replays", nargs=-1, required=True, metavar="REPLAY...")
def verify(replays: tuple[str, ...]) -> None:
    """Play each replay again and say whether it is valid.

    One line a replay. The exit code is 0 if all are valid, 1 if one is not, 2 if one is
    no readable JSON.
    """
    worst = VALID
    with open_pipe():
        for verdict, line in _judge_all(replays):
            worst = max(worst, verdict)
            click.echo(line, err=verdict == UNREADABLE)
    sys.exit(worst)


def _fail(path: str, error: Exception) -> NoReturn:
    name, why = printable(path), printable(str(error))
    if isinstance(error, NotJson):
        raise Unreadable(f"{name}: {why}") from None
    raise Invalid(f"{name}: invalid: {why}") from None


@click.command()
@click.argument("replay")
def trace(replay: str) -> None:
    """Print each action of a replay, its state and the legal actions, as JSON lines."""
    try:
        lines = trace_lines(read(replay))
        first = next(lines)
    except (InvalidReplay, NotJson) as error:
        _fail(replay, error)
    with open_pipe():
        for line in _chain(first, lines):
            click.echo(json.dumps(line, separators=(",", ":")))


def _chain(
    first: dict[str, object], rest: Iterable[dict[str, object]]
) -> Iterator[dict[str, object]]:
    yield first
    yield from rest


@click.command()
@click.argument("replay")
@click.option("--plain", is_flag=True, help="No colour, and no waiting for a key.")
@click.option("--actions", is_flag=True, help="A board for each action, not each turn.")
def show(replay: str, *, plain: bool, actions: bool) -> None:
    """Show the boards of a replay, step by step.

    In a terminal a key leads on: space or Enter to the next board, b to the one before,
    q to the end. Plain and all at once where the output is piped.
    """
    try:
        document = read(replay)
        pages = list(frames(document, every_action=actions))
    except (InvalidReplay, NotJson) as error:
        _fail(replay, error)
    console = Console(
        color_system=None if plain else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )
    with open_pipe():
        if plain or not _in_terminal():
            for page in pages:
                console.print(page, soft_wrap=True)
        else:
            _leaf_through(console, pages)


def _in_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _leaf_through(console: Console, pages: list[Text]) -> None:
    number = 0
    while number < len(pages):
        console.clear()
        console.print(pages[number], soft_wrap=True)
        console.print(f"{number + 1} of {len(pages)}: space, b or q")
        number = _turn_page(number, click.getchar(), len(pages))


def _turn_page(page: int, key: str, pages: int) -> int:
    """Return the page that a key leads to; one beyond the last ends."""
    if key in ("q", "Q", "\x1b"):
        return pages
    return max(0, page - 1) if key in ("b", "B", "\x1b[D", "\x7f") else page + 1
