"""The spans of one attempt at a game, in the trace of its match."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ladder.common import tracing
from ladder.common.spans import Attributes, Span, SpanKind
from ladder.common.tracing import NO_SPAN
from ladder.games import match_traces
from ladder.games.attempts import Claim
from ladder.games.models import Game
from torres.runner.verdict import BotStart

S_NS = 1e9


@contextmanager
def span_of(claim: Claim, game: Game, began_ns: int) -> Iterator[Span]:
    """Record an attempt from the arrival of its hint on. Its claim is over.

    The trace is known only now, because it is in the row of the match.
    """
    if not tracing.is_on():
        yield NO_SPAN
        return
    claimed_ns = tracing.now_ns()
    match = game.match
    attributes: Attributes = {
        "torres.game": claim.game,
        "torres.match": match.pk,
        "torres.ladder": match.ladder,
        "torres.fence": claim.fence,
        "torres.worker": claim.worker,
    }
    with tracing.span(
        "game",
        attributes,
        parent=match.traceparent,
        links=match_traces.links_of(match, [s.submission for s in game.seats.all()]),
        kind=SpanKind.CONSUMER,
        began_ns=began_ns,
    ) as span:
        tracing.record("claim", began_ns=began_ns, ended_ns=claimed_ns)
        yield span


def record_starts(game: Game, starts: Sequence[BotStart | None]) -> None:
    """Record how the bots of a game were started, in the order of the seats."""
    if not tracing.is_on():
        return
    for seat, start in zip(game.seats.all(), starts, strict=False):
        if start is None:
            continue
        attributes: Attributes = {
            "torres.seat": seat.number,
            "torres.bot": seat.submission.bot.slug,
            "torres.submission": seat.submission_id,
            "torres.ready": start.ready_s is not None,
        }
        began_ns = round(start.at * S_NS)
        bot = tracing.record(
            "start bot",
            attributes,
            began_ns=began_ns,
            ended_ns=began_ns + round((start.ready_s or start.sandbox_s) * S_NS),
        )
        tracing.record(
            "start sandbox",
            parent=bot,
            began_ns=began_ns,
            ended_ns=began_ns + round(start.sandbox_s * S_NS),
        )
