"""`torres verify`, `trace` and `show`: the commands that read replay files."""

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from engine.replay import trace as trace_lines, verify as verify_replay
from engine.replay_format import InvalidReplay, NotJson
from torres.cli.replay_files import (
    INVALID,
    UNREADABLE,
    VALID,
    faults_of,
    line_of,
    position_in,
    read,
)
from torres.common.lazy_import import lazy_import
from torres.common.processors import processors
from torres.common.quoting import printable
from torres.drawing.board_text import frames, position_page

if TYPE_CHECKING:
    from torres.cli import receipts
else:
    receipts = lazy_import("torres.cli.receipts")  # it needs cryptography

_WORTH_A_PROCESS = 200  # files; with fewer, starting processes takes longer
_FILES_PER_TASK = 25


@contextmanager
def open_pipe() -> Iterator[None]:
    """Ignore that the reader of our output closes the pipe early, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout again at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check(path: str) -> tuple[int, str, str]:
    """Return VALID, INVALID or UNREADABLE, the path, and the fault; "" if valid."""
    name = printable(path)
    try:
        verify_replay(read(path))
    except InvalidReplay as fault:
        return INVALID, name, printable(str(fault))
    except NotJson as error:
        return UNREADABLE, name, printable(str(error))
    return VALID, name, ""


def _json_line(code: int, name: str, fault: str) -> str:
    """Return the same as JSON; `valid` is null if the file cannot be read."""
    valid = None if code == UNREADABLE else code == VALID
    return json.dumps({"replay": name, "valid": valid, "fault": fault or None})


def _check_all(paths: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    cores = processors()
    if cores == 1 or len(paths) < _WORTH_A_PROCESS:
        yield from map(check, paths)
        return
    with ProcessPoolExecutor(cores) as pool:
        yield from pool.map(check, paths, chunksize=_FILES_PER_TASK)


@click.command()
@click.argument("replays", nargs=-1, required=True, metavar="REPLAY...")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one line of JSON for each replay."
)
@click.option("--receipt", metavar="FILE", help="The receipt of the game or upload.")
@click.option("--key", metavar="KEY", help="The public key of the log, for --receipt.")
def verify(
    *, replays: tuple[str, ...], as_json: bool, receipt: str | None, key: str | None
) -> None:
    """Play each replay again and check that it is valid.

    This checks the setup, all moves, the scorings and the result. The output is one
    line for each replay; for an invalid one it names the first fault. The exit code is
    0 if all replays are valid, 1 if one is not, and 2 if one is not readable JSON.

    With --receipt, the replay is also compared with the receipt of its game: the public
    log has this replay, and its decks follow from what was committed to before. With
    the receipt of an upload, name the bot instead of a replay. The key of the log
    stands on the page /log/ of the service. No network is needed.

    \b
    Examples:
      torres verify game.json
      torres verify games/*.json --json
      torres verify game-7.json --receipt game-7.tlog-proof --key ladder.example…
      torres verify my-bot/ --receipt submission-3.tlog-proof --key ladder.example…
    """
    if receipt is not None:
        receipts.verify_receipt(replays, receipt, key, as_json=as_json)
        return
    exit_code = VALID
    with open_pipe():
        for code, name, fault in _check_all(replays):
            exit_code = max(exit_code, code)
            if as_json:
                click.echo(_json_line(code, name, fault))
            else:
                click.echo(line_of(code, name, fault), err=code == UNREADABLE)
    sys.exit(exit_code)


@click.command()
@click.argument("replay")
def trace(replay: str) -> None:
    """Print each action of a replay as a line of JSON.

    Each line has the state before the action with all cards in view, the legal actions,
    and the action. The last line has the final state and the result.

    \b
    Examples:
      torres trace game.json
      torres trace game.json | head -1
    """
    with faults_of(replay):
        lines = trace_lines(read(replay))
        first = next(lines)
    with open_pipe():
        for line in chain([first], lines):
            click.echo(json.dumps(line, separators=(",", ":")))


@click.command()
@click.argument("replay", metavar="REPLAY|POSITION")
@click.option(
    "--plain", is_flag=True, help="Print all boards at once, without colours."
)
@click.option(
    "--actions", is_flag=True, help="Show a board for each action instead of each turn."
)
def show(replay: str, *, plain: bool, actions: bool) -> None:
    """Show the boards of a replay, step by step, or the board of a position.

    In a terminal, press space or Enter for the next board, b for the previous one, and
    q to quit. If the output is not a terminal, all boards are printed at once. Under
    each board is the text of its position, which other commands read.

    \b
    Examples:
      torres show game.json
      torres show game.json --plain --actions
      torres show torres-position/1:rules=…
    """
    placed = position_in(replay)
    if placed is None:
        with faults_of(replay):
            pages = list(frames(read(replay), every_action=actions))
    else:
        pages = [position_page(placed)]
    console = Console(
        color_system=None if plain else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )
    with open_pipe():
        if plain or placed is not None or not _in_terminal():
            for page in pages:
                console.print(page, soft_wrap=True)
        else:
            _page_through(console, pages)


def _in_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _page_through(console: Console, pages: list[Text]) -> None:
    number = 0
    while number < len(pages):
        console.clear()
        console.print(pages[number], soft_wrap=True)
        console.print(f"{number + 1} of {len(pages)}: space, b or q")
        number = _next_page(number, click.getchar(), len(pages))


def _next_page(page: int, key: str, pages: int) -> int:
    """Return the page to show after a key; ``pages`` or more means quit."""
    if key in ("q", "Q", "\x1b"):
        return pages
    if key in ("b", "B", "\x1b[D", "\x7f"):
        return max(0, page - 1)
    return page + 1
