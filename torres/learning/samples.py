"""Training data: the view and the action at each decision of a game, and its result.

`torres selfplay` writes one file for each game, and `load` reads such files. `sample`
makes the same of any replay. docs/environments.md explains the arrays.
"""

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from engine import notation
from engine.game import TorresGame
from engine.observation import (
    ACTION_COUNT,
    MAX_LEGAL,
    OBSERVATION_SIZE,
    Observer,
    id_of,
)
from engine.replay import play_again
from torres.learning.rewards import margins, rank_rewards

Array = np.ndarray[Any, Any]
Format = Literal["npz", "ndjson"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[Format, str] = {"npz": ".npz", "ndjson": ".ndjson.gz"}
_BROKEN = (
    *(KeyError, TypeError, ValueError, EOFError),
    *(zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
)
"""The exceptions of numpy, gzip and json for a file that is something else."""
_TYPES = {
    "observations": np.float32,
    "legal": np.int16,
    "starts": np.int32,
    "actions": np.int16,
    "seats": np.int8,
    "turns": np.int16,
    "rank": np.float32,
    "margin": np.float32,
}


class Samples(NamedTuple):
    """Decisions of one or more games, in the order of time, one row for each."""

    observations: Array
    """32-bit floats, (decisions, OBSERVATION_SIZE): what the seat saw."""
    legal: Array
    """16-bit numbers: the ids of all legal actions, decision after decision."""
    starts: Array
    """(decisions + 1): those of decision `d` are legal[starts[d]:starts[d+1]]."""
    actions: Array
    """16-bit numbers: the id of the action that the seat played."""
    seats: Array
    """8-bit numbers: the seat."""
    turns: Array
    """Whole numbers that are equal within a turn, and grow with time."""
    rank: Array
    """32-bit floats: the reward "rank" of the seat at the end of the game."""
    margin: Array
    """32-bit floats: its reward "margin"."""

    def masks(self, rows: slice = slice(None)) -> Array:
        """Return the masks of some rows: 8-bit numbers, (rows, ACTION_COUNT).

        A mask has 20 KB, so ask for as many rows as a batch has, and not for all.
        """
        numbers = range(*rows.indices(len(self.actions)))
        masks = np.zeros((len(numbers), ACTION_COUNT), np.int8)
        for mask, row in zip(masks, numbers, strict=True):
            mask[self.legal[self.starts[row] : self.starts[row + 1]]] = 1
        return masks

    @classmethod
    def join(cls, games: Iterable[Self]) -> Self:
        """Return the decisions of several games as one."""
        parts = list(games)
        if not parts:
            raise ValueError("there are no games to join")
        ends = np.cumsum([len(part.legal) for part in parts])
        last_turns = np.cumsum([part.turns[-1] + 1 for part in parts])
        moved = {
            "starts": [
                part.starts[:-1].astype(np.int64) + end - len(part.legal)
                for part, end in zip(parts, ends, strict=True)
            ]
            + [ends[-1:]],
            "turns": [
                part.turns.astype(np.int64) + last - part.turns[-1] - 1
                for part, last in zip(parts, last_turns, strict=True)
            ],
        }
        return cls(
            *(
                np.concatenate(moved.get(name, [getattr(part, name) for part in parts]))
                for name in cls._fields
            )
        )


class _Recorder:
    """Notes the decisions of a game while it is played again."""

    def __init__(self) -> None:
        self._observer = Observer()
        self._seat = np.zeros(1, np.intc)
        self._mask = np.zeros(ACTION_COUNT, np.int8)
        self._legal = np.zeros(MAX_LEGAL, np.int16)
        self._starts = np.zeros(2, np.intc)
        self.rows: dict[str, Any] = {name: [] for name in _TYPES}
        self.rows["starts"].append(0)

    def note(self, game: TorresGame, action: str) -> None:
        """Note a decision, unless the referee decided for a seat that forfeited."""
        position = game.position
        move = notation.move_of(position, action)
        if position.seat in game.forfeited or move is None:
            return
        number = id_of(move)
        if number < 0:  # a way to leave blocks, beyond those that have ids
            return
        seen = np.empty(OBSERVATION_SIZE, np.float32)
        self._observer.observe_all(
            [position], self._seat, seen, self._mask, self._legal, self._starts
        )
        legal = self._legal[: self._starts[1]].copy()
        self._mask[legal] = 0
        rows = self.rows
        rows["observations"].append(seen)
        rows["legal"].append(legal)
        rows["starts"].append(rows["starts"][-1] + len(legal))
        rows["actions"].append(number)
        rows["seats"].append(position.seat)
        rows["turns"].append(position.turn_id)


def sample(replay: object) -> Samples:
    """Return the decisions of a finished game from its replay.

    Answers of the referee for seats that forfeited are left out. Raises InvalidReplay
    for a replay that is not valid, and ValueError for one without decisions or result.
    """
    recorder = _Recorder()
    game = play_again(replay, recorder.note)
    rows = recorder.rows
    if game.result is None:
        raise ValueError("the game is not finished, so nobody knows what to learn")
    if not rows["actions"]:
        raise ValueError("the game has no decisions")
    seats = np.array(rows["seats"])
    rows["rank"] = np.array(rank_rewards(game.result["ranks"]))[seats]
    rows["margin"] = np.array(margins(game.result["scores"]))[seats]
    rows["legal"] = np.concatenate(rows["legal"])
    rows["turns"] = np.array(rows["turns"]) - rows["turns"][0]
    return Samples(*(np.asarray(rows[name], _TYPES[name]) for name in Samples._fields))


def encode(samples: Samples, form: Format) -> bytes:
    """Return decisions as the content of a file; equal decisions give equal bytes."""
    if form == "ndjson":
        lines = "".join(f"{json.dumps(line)}\n" for line in _lines(samples))
        return gzip.compress(lines.encode(), mtime=0)
    file = io.BytesIO()
    np.savez_compressed(file, **samples._asdict())
    return file.getvalue()


def _lines(samples: Samples) -> Iterator[dict[str, object]]:
    for row in range(len(samples.actions)):
        start, end = samples.starts[row : row + 2]
        yield {
            "observation": [
                int(number) if number == int(number) else float(number)
                for number in samples.observations[row]
            ],
            "legal": samples.legal[start:end].tolist(),
            "action": int(samples.actions[row]),
            "seat": int(samples.seats[row]),
            "turn": int(samples.turns[row]),
            "rank": float(samples.rank[row]),
            "margin": float(samples.margin[row]),
        }


def _decode(file: Path) -> Samples:
    if file.suffix == ".npz":
        with file.open("rb") as raw, np.load(raw, allow_pickle=False) as arrays:
            return Samples(*(arrays[name] for name in Samples._fields))
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    if not rows:
        raise ValueError("no decisions")
    legal = [row["legal"] for row in rows]
    columns = {
        "observations": [row["observation"] for row in rows],
        "legal": [number for numbers in legal for number in numbers],
        "starts": np.cumsum([0, *map(len, legal)]),
        "actions": [row["action"] for row in rows],
        "seats": [row["seat"] for row in rows],
        "turns": [row["turn"] for row in rows],
        "rank": [row["rank"] for row in rows],
        "margin": [row["margin"] for row in rows],
    }
    return Samples(*(np.array(columns[n], _TYPES[n]) for n in Samples._fields))


def load(*paths: Path | str) -> Iterator[Samples]:
    """Yield the decisions of each game in some files and folders.

    The games of a folder come in the order of their numbers, and `Samples.join` makes
    one of them. Raises ValueError for a file that is not one of `torres selfplay`, and
    for a folder without any.
    """
    for path in map(Path, paths):
        files = sample_files(path) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"{path}: no files of `torres selfplay` are there")
        for file in files:
            try:
                samples = _decode(file)
            except _BROKEN:
                raise ValueError(f"{file}: not a file of `torres selfplay`") from None
            yield samples


def sample_files(folder: Path) -> list[Path]:
    """Return the files with decisions in a folder, in the order of their numbers."""
    files = [f for suffix in SUFFIXES.values() for f in folder.glob(f"*{suffix}")]
    return sorted(files, key=lambda file: (len(file.name), file.name))
