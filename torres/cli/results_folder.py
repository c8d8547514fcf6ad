"""A folder with the results of a match, so that an interrupted match continues.

`results.ndjson` has the identity of the match in its first line (bots with the digests
of their files, rules, limits, seed), and one result in each other line, in the order in
which the games ended. A command with the same identity finds the same folder. A line
that was cut off by a crash is removed.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from torres.cli.local_results import LocalResult
from torres.common.json_object import JsonObject
from torres.common.locks import locked

RESULTS_FILE = "results.ndjson"
REPLAYS_FOLDER = "replays"
MAX_NAME_CHARS = 60


def state_home() -> Path:
    """Return the user's folder for results that are not asked for by a path."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local/state") / "torres-ladder"


def default_folder(kind: str, identity: JsonObject) -> Path:
    """Return the folder of a match in the user's state folder."""
    names = "-".join(bot["name"] for bot in identity["bots"])
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", names)[:MAX_NAME_CHARS]
    document = json.dumps(identity, sort_keys=True).encode()
    digest = hashlib.sha256(document).hexdigest()[:12]
    return state_home() / kind / f"{readable}-{digest}"


class ResultsFolder:
    """The results of one match, by the number of the game."""

    def __init__(self, path: Path, identity: JsonObject) -> None:
        self.path = path
        self.identity = identity
        self.results: dict[int, LocalResult] = {}

    @property
    def replays(self) -> Path:
        return self.path / REPLAYS_FOLDER

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[None]:
        """Read the results, and hold the folder. ``fresh`` deletes them first.

        Raises BadParameter if the folder holds another match, and ClickException if
        another command uses the folder.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{self.path}: {error.strerror}") from error
        with locked(self.path / "lock") as ours:
            if not ours:
                raise click.ClickException(
                    f"another command plays this match in {self.path}; wait for it, or"
                    " choose another folder with --state"
                )
            file = self.path / RESULTS_FILE
            if fresh:
                file.unlink(missing_ok=True)
                shutil.rmtree(self.replays, ignore_errors=True)
            if file.exists():
                self._read(file)
            with file.open("a", encoding="utf-8") as self._file:
                if not self._file.tell():
                    self._write(json.dumps(self.identity))
                yield

    def add(self, result: LocalResult) -> None:
        """Append a result. A game that could not be played is tried again next time."""
        self.results[result.game] = result
        if not result.dead:
            self._write(msgspec.json.encode(result).decode())

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def _read(self, file: Path) -> None:
        """Read the file up to the first broken line, and cut it off there."""
        whole = 0
        with file.open("rb") as lines:
            for number, line in enumerate(lines):
                try:
                    if not line.endswith(b"\n"):
                        break
                    if number == 0:
                        self._check_identity(json.loads(line))
                    else:
                        result = msgspec.json.decode(line, type=LocalResult)
                        self.results[result.game] = result
                except (ValueError, msgspec.DecodeError):
                    break
                whole += len(line)
        os.truncate(file, whole)

    def _check_identity(self, stored: object) -> None:
        ours = json.loads(json.dumps(self.identity))
        if not isinstance(stored, dict) or stored == ours:
            return
        changed = [key for key in ours if ours[key] != stored.get(key)]
        raise click.BadParameter(
            f"{self.path} holds a match with different {', '.join(changed)}; choose"
            " another folder with --state, or delete its results with --fresh"
        )
