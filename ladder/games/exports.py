"""Exports: all games or replays of a search, as lines of JSON, in bounded parts.

1. The games are read in small chunks, each after the last game of the one before. So
   memory is constant, and no transaction or cursor stays open between two chunks.
2. Each line has a cursor. A reader whose connection broke goes on after the last whole
   line that it has.
3. The last line of a part has the key `end`. Without it the part is not complete. Its
   `next` is the cursor from which the next part goes on, or null after the last one.
4. A part ends after MAX_PART_BYTES or MAX_PART_S, so that it holds a thread of the web
   server only for a short time, however slowly it is read.
5. A person reads one export at a time, and all people together MAX_EXPORTS in one
   process (`ExportSlots`).
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from threading import Lock
from typing import Any, NamedTuple

import zstandard
from django.db.models import Q, QuerySet

from ladder.games import visibility
from ladder.games.models import Game
from ladder.games.serializers import GameSerializer
from ladder.games.visibility import PLAYED
from torres.common.errors import TooMany
from torres.common.moments import parse_moment

# The web server holds up to 16 MiB of a response for a slow reader. A longer one would
# occupy the slot of its export until the reader has read it.
MAX_PART_BYTES = 12 << 20
MAX_PART_S = 60.0
BATCH_BYTES = 64 << 10
MAX_EXPORTS = 3
"""The exports that one process computes at a time; the web server has 8 threads."""
RETRY_S = 2
MAX_ID_DIGITS = 18
ZSTD_LEVEL = 6

Fragments = Callable[[Sequence[Game]], Mapping[int, bytes]]
"""Returns the text of each game's line behind the cursor. Games may be missing."""


class GamePosition(NamedTuple):
    """The place of a game in the order of an export."""

    text: str
    condition: Q


@dataclass(frozen=True, slots=True)
class ExportKind:
    """The contents of the lines, and the number of games that are read at a time."""

    fragments: Fragments
    chunk: int


def game_fragments(keys: Sequence[Game]) -> dict[int, bytes]:
    """Return the games as the list of games shows them."""
    rows = visibility.with_seats(keys)
    documents = GameSerializer(rows, many=True).data
    return {row["id"]: b'"game":' + _json(row) for row in documents}


def replay_fragments(keys: Sequence[Game]) -> dict[int, bytes]:
    """Return the replays that are public, without those that cannot be read."""
    shown = visibility.public_replays((key.pk for key in keys), skip_damaged=True)
    return {number: b'"id":%d,"replay":%s' % (number, text) for number, text in shown}


GAMES = ExportKind(game_fragments, chunk=200)
REPLAYS = ExportKind(replay_fragments, chunk=20)


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def position_of(key: Game, columns: Sequence[str]) -> GamePosition:
    """Return the cursor of a game, and the condition for the games that follow it."""
    is_descending = columns[0].startswith("-")
    after = "lt" if is_descending else "gt"
    later = Q(**{f"id__{after}": key.pk})
    if columns[0].lstrip("-") == "id":
        return GamePosition(str(key.pk), later)
    moment = key.finished_at
    assert moment is not None
    clock = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    same_moment = Q(finished_at=moment) & later
    # The second condition follows from the first, and an index can use it.
    condition = (Q(**{f"finished_at__{after}": moment}) | same_moment) & Q(
        **{f"finished_at__{after}e": moment}
    )
    return GamePosition(f"{clock}Z,{key.pk}", condition)


def read_position(text: str, columns: Sequence[str]) -> GamePosition | None:
    """Return the position of a cursor; None if no export in this order sent it."""
    clock, _, number = text.rpartition(",")
    if not (number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS):
        return None
    by_id = columns[0].lstrip("-") == "id"
    moment = parse_moment(clock)
    if by_id != (clock == "") or (moment is None and not by_id):
        return None
    return position_of(Game(pk=int(number), finished_at=moment), columns)


@dataclass
class Wire:
    """Counts what is sent, and packs it if there is a compressor of zstd."""

    compressor: Any = None
    sent: int = 0

    def pack(self, data: bytes) -> bytes:
        """Return bytes from which the reader can unpack all data so far."""
        if self.compressor is not None:
            data = self.compressor.compress(data)
            data += self.compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        self.sent += len(data)
        return data

    def end(self) -> bytes:
        if self.compressor is None:
            return b""
        end: bytes = self.compressor.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)
        return end


def zstd_wire() -> Wire:
    return Wire(zstandard.ZstdCompressor(ZSTD_LEVEL).compressobj())


@dataclass(slots=True)
class ExportPart:
    """One part of an export: iterate over it once.

    `rows` are keys of games (`visibility.game_keys`), filtered. `columns` is their
    order, which ends with the id.
    """

    kind: ExportKind
    rows: QuerySet[Game]
    columns: Sequence[str]
    start: GamePosition | None
    limit: int | None
    wire: Wire
    count: int = 0
    withheld: int = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines of the part in batches, and the last line."""
        deadline = time.monotonic() + MAX_PART_S
        batch = bytearray()
        following = None
        for position, line in self._lines():
            batch += line
            if len(batch) >= BATCH_BYTES:
                yield self.wire.pack(bytes(batch))
                batch.clear()
            if self._is_full(len(batch)) or time.monotonic() > deadline:
                following = position.text
                break
        batch += self._last_line(following)
        yield self.wire.pack(bytes(batch)) + self.wire.end()

    def _is_full(self, waiting: int) -> bool:
        if self.limit is not None and self.count >= self.limit:
            return True
        return self.wire.sent + waiting >= MAX_PART_BYTES

    def _lines(self) -> Iterator[tuple[GamePosition, bytes]]:
        """Yield each game's position and line; the line of a withheld one is empty."""
        for keys in self._chunks():
            fragments = self.kind.fragments(keys)
            for key in keys:
                position = position_of(key, self.columns)
                fragment = fragments.get(key.pk)
                if fragment is None:
                    self.withheld += 1
                    yield position, b""
                else:
                    self.count += 1
                    cursor = position.text.encode()
                    yield position, b'{"cursor":"%s",%s}\n' % (cursor, fragment)

    def _chunks(self) -> Iterator[list[Game]]:
        # Only these have a result, and a replay that never changes.
        played = self.rows.filter(status__in=PLAYED, finished_at__isnull=False)
        ordered = played.order_by(*self.columns)
        size = min(self.kind.chunk, self.limit or self.kind.chunk)
        position = self.start
        while True:
            rest = ordered.filter(position.condition) if position else ordered
            keys = list(rest[:size])
            if keys:
                yield keys
                position = position_of(keys[-1], self.columns)
            if len(keys) < size:
                return

    def _last_line(self, following: str | None) -> bytes:
        document = {
            "end": True,
            "count": self.count,
            "withheld": self.withheld,
            "next": following,
        }
        return _json(document) + b"\n"


class ExportSlots:
    """Limits the exports that this process sends at a time.

    It counts in memory, because the threads that it protects belong to this process.
    """

    def __init__(self) -> None:
        self._readers: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, reader: str) -> None:
        """Take a slot for a reader. Raises TooMany."""
        with self._lock:
            if self._readers[reader]:
                raise TooMany(
                    "You are reading an export already. Read one after the other.",
                    retry_after=RETRY_S,
                )
            if self._readers.total() >= MAX_EXPORTS:
                raise TooMany(
                    "Other people are reading exports. Try again in some seconds.",
                    retry_after=RETRY_S,
                )
            self._readers[reader] += 1

    def give_back(self, reader: str) -> None:
        with self._lock:
            del self._readers[reader]


SLOTS = ExportSlots()


class SlottedPart:
    """A part that holds the slot of its reader until it is closed.

    The web server closes it in every case, also if the reader has gone before the first
    byte.
    """

    def __init__(self, part: ExportPart, reader: str) -> None:
        SLOTS.take(reader)
        self._reader: str | None = reader
        self._batches = iter(part)

    def __iter__(self) -> Iterator[bytes]:
        return self._batches

    def close(self) -> None:
        if self._reader is not None:
            SLOTS.give_back(self._reader)
            self._reader = None
