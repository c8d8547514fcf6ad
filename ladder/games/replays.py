"""How a replay is stored: the JSON of the contract, section 7, compressed by zstd.

A frame names the dictionary that it needs, and with it the layout of what is inside:
without one it is the JSON itself, with one its moves stand in columns. So replays of
every age can be read. Dictionaries are frozen; `manage.py train_dictionary` makes one.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

LEVEL = 19
MAX_BYTES = 4 << 20
NEWEST = 1
"""The dictionary of new replays."""
FOLDER = Path(__file__).parent / "dictionaries"

_WORDS = {
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
"""Letters for the words with which actions begin: part of the layout, never changed."""
_LETTERS = {letter: word for word, letter in _WORDS.items()}
_WORD = re.compile(f"^(?:{'|'.join(_WORDS)})")
_ACTION = re.compile("[A-Z][^A-Z]*")
_AUTO = "-"


class UnknownDictionary(Exception):
    """The replay was stored by a newer version of this service."""


def pack(document: dict[str, Any]) -> bytes:
    """Return the stored form of a replay document."""
    return _compressor(NEWEST).compress(laid_out(document))


def unpack(stored: bytes) -> bytes:
    """Return the JSON text of a stored replay, byte for byte as it was packed.

    Raises UnknownDictionary where the one that it names is not part of this version.
    """
    number = zstandard.get_frame_parameters(stored).dict_id
    text = _decompressor(number).decompress(stored, max_output_size=MAX_BYTES)
    if not number:
        return text
    document = json.loads(text)
    if isinstance(document["moves"], dict):
        document["moves"] = _rows(document["moves"])
    return _dumped(document)


def laid_out(document: dict[str, Any]) -> bytes:
    """Return what is compressed: the JSON, its moves in columns where they fit."""
    columns = _columns(document["moves"])
    return _dumped(document | {"moves": columns} if columns else document)


def _columns(moves: list[dict[str, Any]]) -> dict[str, str] | None:
    """Lay moves out by kind of value; None for moves that would not come back."""
    try:
        columns = {
            "seats": "".join(str(move["seat"]) for move in moves),
            "actions": "".join(_shortened(move["actions"]) for move in moves),
            "ms": " ".join(_tenths(move) for move in moves),
        }
        return columns if _dumped(_rows(columns)) == _dumped(moves) else None
    except (KeyError, TypeError, ValueError):
        return None


def _rows(columns: dict[str, str]) -> list[dict[str, Any]]:
    moves = []
    actions = _lengthened(columns["actions"])
    costs = columns["ms"].split()
    for seat, said, ms in zip(columns["seats"], actions, costs, strict=True):
        move: dict[str, Any] = {"seat": int(seat), "actions": said}
        cost = {"auto": True} if ms == _AUTO else {"ms": int(ms) / 10}
        moves.append(move | cost)
    return moves


def _tenths(move: dict[str, Any]) -> str:
    return _AUTO if "auto" in move else str(round(move["ms"] * 10))


def _shortened(actions: Iterable[str]) -> str:
    return ";".join(_WORD.sub(lambda word: _WORDS[word[0]], a) for a in actions)


def _lengthened(text: str) -> Iterator[list[str]]:
    """Go through the actions of each move: all but its last one end with `;`."""
    actions: list[str] = []
    for short in _ACTION.findall(text):
        actions.append(_LETTERS[short[0]] + short[1:].removesuffix(";"))
        if not short.endswith(";"):
            yield actions
            actions = []


def _dumped(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


@cache
def _dictionary(number: int) -> zstandard.ZstdCompressionDict:
    try:
        data = (FOLDER / f"replays-{number}.zdict").read_bytes()
    except FileNotFoundError:
        raise UnknownDictionary(
            f"A replay needs dictionary {number}; this version has {NEWEST}. Update it."
        ) from None
    dictionary = zstandard.ZstdCompressionDict(data)
    dictionary.precompute_compress(level=LEVEL)
    return dictionary


# Made for each use: two threads that share one of these spoil each other's frames.
def _compressor(number: int) -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(number))


def _decompressor(number: int) -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(dict_data=_dictionary(number) if number else None)
