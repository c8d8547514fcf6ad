"""Rows of seat logs: the output of seats, shortened to the quotas of their bots.

A bot decides how much it writes, so there are two quotas. One log takes at most
TORRES_SEAT_LOG_BYTES. When the logs of a bot exceed TORRES_BOT_LOG_BYTES in one day
(UTC), its further logs of this day take at most SHORT_LOG_BYTES each. Bots that write
nothing cost no statement.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from ladder.common.storable import storable
from ladder.games import sql
from ladder.games.sql import LogRow
from torres.common.shorten import shorten
from torres.runner.verdict import SeatOutput

SHORT_LOG_BYTES = 1024
# The shares of one log. stderr gets the rest, which is one half.
_NOTES_SHARE = 4
_LINE_SHARE = 8
# The long texts of a verdict: the last line that the bot got, and its answer.
_LINES = ("sent", "received")


def rows(game: int, attempt: int, outputs: Sequence[SeatOutput]) -> list[LogRow]:
    """Return the logs of the seats that left something behind, shortened.

    Every call counts against the quotas of the bots, so a call that is repeated after
    an outage counts twice.
    """
    return [
        _row(attempt, number, limited(output, _max_bytes(game, number, output)))
        for number, output in enumerate(outputs)
        if output.stderr or output.notes or output.verdict
    ]


def limited(output: SeatOutput, max_bytes: int) -> SeatOutput:
    """Return an output with at most about `max_bytes` bytes.

    Of stderr, of the notes, and of the two lines of the verdict the beginning and the
    end stay. The other fields of a verdict are short, and stay.
    """
    verdict = output.verdict | {
        name: shorten(output.verdict[name], max_bytes // _LINE_SHARE)
        for name in _LINES
        if isinstance(output.verdict.get(name), str)
    }
    return replace(
        output,
        stderr=shorten(output.stderr, max_bytes // 2),
        notes=_ends_of(output.notes, max_bytes // _NOTES_SHARE),
        verdict=verdict,
    )


def _max_bytes(game: int, seat: int, output: SeatOutput) -> int:
    """Count a log against the quota of its bot, and return how long it may be."""
    max_bytes: int = settings.TORRES_SEAT_LOG_BYTES
    size = min(_size(output), max_bytes)
    if not size:
        return max_bytes
    used = sql.add_log_use(game, seat, size)
    return max_bytes if used <= settings.TORRES_BOT_LOG_BYTES else SHORT_LOG_BYTES


def _size(output: SeatOutput) -> int:
    """Return the bytes of what the bot wrote. A verdict alone is free."""
    written = output.stderr + "".join(str(note["note"]) for note in output.notes)
    return len(written.encode(errors="replace"))


def _ends_of(notes: list[dict[str, object]], max_bytes: int) -> list[dict[str, object]]:
    """Return the first and the last notes that fit, and a note for those left out."""
    sizes = [len(json.dumps(note).encode()) for note in notes]
    if sum(sizes) <= max_bytes:
        return notes
    head = _fitting(sizes, max_bytes // 4)
    tail = _fitting(sizes[head:][::-1], max_bytes - max_bytes // 4)
    last = len(notes) - tail
    gap = {
        "move": notes[head]["move"],
        "note": f"[... {last - head} notes were left out ...]",
    }
    return [*notes[:head], gap, *notes[last:]]


def _fitting(sizes: Sequence[int], max_bytes: int) -> int:
    """Return how many of the first sizes fit together."""
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > max_bytes:
            return count
    return len(sizes)


def _row(attempt: int, number: int, output: SeatOutput) -> LogRow:
    return LogRow(
        attempt=attempt,
        seat=number,
        stderr=storable(output.stderr),
        notes=json.dumps(storable(output.notes)),
        verdict=json.dumps(storable(output.verdict)),
    )
