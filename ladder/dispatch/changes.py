"""Finds out, with one statement, whether the upkeep may have anything to do.

The upkeep is twenty statements, and most of the time it finds nothing. So the
dispatcher asks first whether something waits or has changed. The answer may miss a
change, for example a commit that was late. Therefore the upkeep also runs from time to
time without being asked.
"""

from typing import Any

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery, Value

from ladder.bots import selectors as bots
from ladder.bots.models import Submission
from ladder.common.fixed_query import (
    ComposedQuery,
    FixedQuery,
    any_of,
    composed,
    row_of,
)
from ladder.extras.analysis import selectors as analysis
from ladder.extras.comparisons import selectors as comparisons
from ladder.games.models import Game, GameStatus
from ladder.ratings import summaries
from ladder.ratings.cancellation import unplayable_seats
from ladder.ratings.models import Ladder, Membership, Season
from ladder.tournaments import selectors as tournaments
from ladder.tournaments.services import scheduled_now


class ChangeDetector:
    """Remembers what it saw last, so that it notices a change."""

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] = ()

    def finds_work(self) -> bool:
        """True if something waits, or has changed since the last call."""
        waits, *seen = _CHANGES.rows()[0]
        changed = tuple(seen) != self._seen
        self._seen = tuple(seen)
        return bool(waits) or changed


def _compose() -> ComposedQuery:
    """Return the query. Each part of it reads a few entries of an index.

    1. Whether something waits: summaries, games to cancel, uploads, tournaments,
       comparisons, analyses, or finals.
    2. When the last game finished, for the rater.
    3. How many games are voided.
    4. When the last upload became ready, for the ladders on which its bot plays.
    5. When a bot joined or left a ladder last.
    """
    finished = Game.objects.filter(finished_at__isnull=False).order_by("-finished_at")
    voided = Game.objects.filter(status=GameStatus.VOIDED).order_by().values("status")
    ready = Submission.objects.filter(
        status=Submission.Status.READY, ready_at__isnull=False
    )
    return row_of(
        any_of(
            summaries.behind(),
            unplayable_seats(),
            Submission.objects.filter(bots.claimable()),
            scheduled_now(),
            tournaments.running(),
            comparisons.running_rows(),
            analysis.waiting(),
            Season.objects.filter(status=Season.Status.FINALS),
        ),
        composed(finished.values("finished_at")[:1]),
        composed(voided.annotate(count=Count("pk")).values("count")),
        composed(ready.order_by("-ready_at").values("ready_at")[:1]),
        composed(_last_membership_change()),
    )


def _last_membership_change() -> QuerySet[Ladder, Any]:
    """Return one row. Each ladder costs one look at the index of its memberships."""
    of_ladder = Membership.objects.filter(ladder=OuterRef("pk")).order_by("-changed_at")
    last = Subquery(of_ladder.values("changed_at")[:1])
    one_group = Ladder.objects.order_by().annotate(all=Value(1)).values("all")
    return one_group.annotate(last=Max(last)).values("last")


_CHANGES = FixedQuery(_compose)
