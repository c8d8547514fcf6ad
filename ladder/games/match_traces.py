"""The traces of matches: where they begin, and which spans belong to them.

The first match of an upload continues the upload's trace, so that one trace leads from
the upload to its first rating. Every other match has a trace of its own, because the
uploads at its table are not its cause: it is linked with their traces.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from ladder.bots.models import Submission
from ladder.common import tracing
from ladder.common.spans import Attributes
from ladder.games.models import Game, Match, Seat


class TracedTable(NamedTuple):
    """A match that is about to be made: its kind, its ladder or "", and its seats."""

    kind: str
    ladder: str
    seats: Sequence[Submission]


def traces_of(tables: Sequence[TracedTable]) -> list[str]:
    """Begin the trace of a match for each table; return their traceparents.

    If several uploads at a table play their first match, the trace continues that of
    one of them. The others' traces get a moment that is linked with it.
    """
    if not tracing.is_on():
        return [""] * len(tables)
    waiting = _without_a_match(tables)
    return [_trace_of(table, waiting) for table in tables]


def record_hints(hints: Iterable[tuple[str, int]]) -> None:
    """Record that hints were sent; each is a queue and a game."""
    if not tracing.is_on():
        return
    queues = {game: queue for queue, game in hints}
    for game, traceparent in _traceparents(queues):
        attributes: Attributes = {"torres.game": game, "torres.queue": queues[game]}
        tracing.record("hint", attributes, parent=traceparent)


def record_ratings(ladder: str, games: Collection[int], began_ns: int) -> None:
    """Record that games were rated, all at once, since a moment of `tracing`."""
    if not tracing.is_on():
        return
    for game, traceparent in _traceparents(games):
        attributes: Attributes = {
            "torres.game": game,
            "torres.ladder": ladder,
            "torres.games_of_the_batch": len(games),
        }
        tracing.record("rating", attributes, parent=traceparent, began_ns=began_ns)


def links_of(match: Match, seats: Collection[Submission]) -> list[str]:
    """Return the traces of the uploads at a table, without the match's own trace."""
    own = _trace_id(match.traceparent)
    traces = (seat.traceparent for seat in seats)
    return [trace for trace in traces if trace and _trace_id(trace) != own]


def _without_a_match(tables: Sequence[TracedTable]) -> set[int]:
    seats = [seat for table in tables for seat in table.seats]
    traced = {seat.pk for seat in seats if seat.traceparent}
    seated = Seat.objects.filter(submission=OuterRef("pk"))
    rows = Submission.objects.filter(~Exists(seated), pk__in=traced)
    return set(rows.values_list("pk", flat=True))


def _trace_of(table: TracedTable, waiting: set[int]) -> str:
    """Begin one trace. These uploads no longer wait for their first match."""
    uploads = {seat.pk: seat.traceparent for seat in table.seats if seat.traceparent}
    first, *others = [uploads.pop(pk) for pk in list(uploads) if pk in waiting] or [""]
    waiting.difference_update(seat.pk for seat in table.seats)
    attributes = {"torres.kind": table.kind, "torres.ladder": table.ladder}
    links = [tracing.present(), *others, *uploads.values()]
    trace = tracing.record("match", attributes, parent=first, links=links)
    for other in others:
        tracing.record("first match", parent=other, links=[trace])
    return trace


def _traceparents(games: Collection[int]) -> list[tuple[int, str]]:
    rows = Game.objects.filter(pk__in=list(games)).exclude(match__traceparent="")
    return list(rows.values_list("pk", "match__traceparent"))


def _trace_id(traceparent: str) -> str:
    """Return the id of a trace, the second of the four parts of a traceparent."""
    return traceparent.partition("-")[2].partition("-")[0]
