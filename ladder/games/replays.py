"""Store replays in little space: JSON (docs/contract.md, section 7) under zstd.

A zstd frame names the dictionary that it was compressed with, if any. A frame without
a dictionary contains the JSON as it is. A frame with a dictionary contains the JSON
with its moves in columns, which compress better. So replays of every age stay
readable, as long as no dictionary ever changes. `tests/games/train_dictionary.py` makes
a new one.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from engine.documents import MoveEntry, Replay

LEVEL = 19
MAX_BYTES = 4 << 20
# The dictionary of new replays.
NEWEST = 1
FOLDER = Path(__file__).parent / "dictionaries"

# Letters for the words with which actions begin. They belong to the stored format, so
# they must never change.
_LETTERS = {
    "add ": "A",
    "block ": "B",
    "score": "C",
    "end": "E",
    "found ": "F",
    "king ": "G",
    "first ": "I",
    "keep ": "K",
    "move ": "M",
    "enter ": "N",
    "play ": "P",
    "stack ": "S",
    "stock ": "T",
    "buy": "U",
}
_WORDS = {letter: word for word, letter in _LETTERS.items()}
_LEADING_WORD = re.compile(f"^(?:{'|'.join(_LETTERS)})")
_SHORT_ACTION = re.compile("[A-Z][^A-Z]*")
# Stands in the column "ms" for a move that the referee made for a forfeited seat.
_AUTO = "-"


class UnknownDictionary(Exception):
    """A newer version of this service stored the replay."""


def pack(document: Replay) -> bytes:
    """Return the stored form of a replay document."""
    return _compressor(NEWEST).compress(with_columns(document))


def unpack(stored: bytes) -> bytes:
    """Return the JSON text of a stored replay, byte for byte as it was packed.

    Raises UnknownDictionary if this version does not have the replay's dictionary.
    """
    dictionary = zstandard.get_frame_parameters(stored).dict_id
    text = _decompressor(dictionary).decompress(stored, max_output_size=MAX_BYTES)
    if not dictionary:
        return text
    document: Any = json.loads(text)
    if isinstance(document["moves"], dict):
        document["moves"] = _from_columns(document["moves"])
    return _json(document)


def with_columns(document: Replay) -> bytes:
    """Return the JSON that is compressed, its moves in columns if they fit there."""
    columns = _to_columns(document["moves"])
    return _json(document | {"moves": columns} if columns else document)


def _to_columns(moves: list[MoveEntry]) -> dict[str, str] | None:
    """Return moves as columns "seats", "actions" and "ms" (in tenths).

    Return None if the columns could not be turned back into exactly these moves.
    """
    try:
        columns = {
            "seats": "".join(str(move["seat"]) for move in moves),
            "actions": "".join(_shorten(move["actions"]) for move in moves),
            "ms": " ".join(_tenths(move) for move in moves),
        }
        is_exact = _json(_from_columns(columns)) == _json(moves)
    except (KeyError, TypeError, ValueError):
        return None
    return columns if is_exact else None


def _from_columns(columns: dict[str, str]) -> list[MoveEntry]:
    moves = []
    actions_of_moves = _lengthen(columns["actions"])
    costs = columns["ms"].split()
    for seat, actions, ms in zip(
        columns["seats"], actions_of_moves, costs, strict=True
    ):
        move: MoveEntry = {"seat": int(seat), "actions": actions}
        if ms == _AUTO:
            move["auto"] = True
        else:
            move["ms"] = int(ms) / 10
        moves.append(move)
    return moves


def _tenths(move: MoveEntry) -> str:
    return _AUTO if "auto" in move else str(round(move["ms"] * 10))


def _shorten(actions: Iterable[str]) -> str:
    """Return the actions of one move, joined by ";" and without a ";" at the end."""
    return ";".join(
        _LEADING_WORD.sub(lambda word: _LETTERS[word[0]], action) for action in actions
    )


def _lengthen(text: str) -> Iterator[list[str]]:
    """Yield the actions of each move. Only the last one does not end with ";"."""
    actions: list[str] = []
    for short in _SHORT_ACTION.findall(text):
        actions.append(_WORDS[short[0]] + short[1:].removesuffix(";"))
        if not short.endswith(";"):
            yield actions
            actions = []


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


@cache
def _dictionary(number: int) -> zstandard.ZstdCompressionDict:
    try:
        data = (FOLDER / f"replays-{number}.zdict").read_bytes()
    except FileNotFoundError:
        raise UnknownDictionary(
            f"A replay needs dictionary {number}, but this version knows only up to"
            f" {NEWEST}. Update this software."
        ) from None
    dictionary = zstandard.ZstdCompressionDict(data)
    dictionary.precompute_compress(level=LEVEL)
    return dictionary


# Compressors are made for each use, because they are not safe to share by threads.
def _compressor(number: int) -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(number))


def _decompressor(number: int) -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(dict_data=_dictionary(number) if number else None)
