"""Reading the replay files and the positions that the command line names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from engine.documents import Replay
from engine.position_text import PlacedPosition, is_position_text, position_from
from engine.replay import verify as verify_replay
from engine.replay_format import InvalidReplay, NotJson, load
from torres.common.quoting import printable

MAX_BYTES = 64 * 1024 * 1024  # of one replay file; a long game has about 20 KB
VALID, INVALID, UNREADABLE = 0, 1, 2  # the exit codes


class Invalid(click.ClickException):
    """The replay is invalid (docs/contract.md, section 9): one line, exit code 1."""

    exit_code = INVALID

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


class Unreadable(Invalid):
    """The file is not readable JSON: one line, exit code 2."""

    exit_code = UNREADABLE


def read(path: str) -> object:
    """Return the JSON value of a file.

    Raises NotJson, or InvalidReplay (at `setup`) for JSON that is no replay.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotJson(error.strerror or "it cannot be read") from None
    except ValueError as error:  # a null byte in the path
        raise NotJson(str(error)) from None
    if len(data) > MAX_BYTES:
        raise NotJson(f"the file has more than {MAX_BYTES} bytes")
    return load(data)


@contextmanager
def faults_of(path: str) -> Iterator[None]:
    """Turn NotJson and InvalidReplay into the line about one replay.

    Raises Unreadable and Invalid.
    """
    try:
        yield
    except NotJson as error:
        line = line_of(UNREADABLE, printable(path), printable(str(error)))
        raise Unreadable(line) from None
    except InvalidReplay as error:
        line = line_of(INVALID, printable(path), printable(str(error)))
        raise Invalid(line) from None


def read_valid(path: str) -> Replay:
    """Return the document of a valid replay. Raises Unreadable and Invalid."""
    with faults_of(path):
        document: Any = read(path)
        verify_replay(document)
    valid: Replay = document
    return valid


def position_in(argument: str) -> PlacedPosition | None:
    """Return the position if an argument is the text of one, or None for a file.

    Raises BadPosition.
    """
    return position_from(argument) if is_position_text(argument) else None


def line_of(code: int, name: str, fault: str) -> str:
    """Return the line about one replay (docs/contract.md, section 9)."""
    if code == UNREADABLE:
        return f"{name}: {fault}"
    return f"{name}: invalid: {fault}" if fault else f"{name}: valid"
