"""Finds out which parts of a tick may have anything to do, with a statement for all.

`look` asks for the parts of each tick, and `ChangeDetector` for the upkeep.
The upkeep is twenty statements, and most of them find nothing. So the dispatcher asks
first what waits or has changed. The answer may miss a change, for example a commit that
was late. Therefore the whole upkeep also runs from time to time without being asked.
"""

from typing import Any, NamedTuple, Self

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
from ladder.events.models import Fact
from ladder.extras.analysis import selectors as analysis
from ladder.extras.comparisons import selectors as comparisons
from ladder.games import selectors as games
from ladder.games.models import OPEN, Game, GameStatus, Match
from ladder.public_log.models import DeckBatch, LogHead
from ladder.ratings import selectors as ratings, summaries
from ladder.ratings.cancellation import unplayable_seats
from ladder.ratings.models import Ladder, Membership, Season
from ladder.tournaments import selectors as tournaments
from ladder.tournaments.services import scheduled_now


class Look(NamedTuple):
    """The facts that a tick finds before it makes matches.

    `fewest_open` is the smallest number of open games of a season that makes matches;
    None without such a season. `needs_hint` is true if a game with decks has no hint
    that may still arrive.
    """

    fewest_open: int | None
    leaves_wait: bool
    matches_wait: bool
    needs_hint: bool
    is_hinted: bool
    is_open: bool


UNKNOWN = Look(0, *(True for _ in Look._fields[1:]))
"""Lets each part of the tick look for itself."""


def look() -> Look:
    """Return what there is to do in this tick."""
    fewest_open, *flags = _LOOK.rows()[0]
    return Look(fewest_open, *map(bool, flags))


class Work(NamedTuple):
    """The parts of the upkeep that may have something to do.

    `ratings` are games to fold, summaries and finals, `voids` are voided games to take
    out of the ratings, `arrivals` are bots that join or have a new version, and `jobs`
    are analyses that wait.
    """

    ratings: bool = False
    voids: bool = False
    arrivals: bool = False
    cancelling: bool = False
    uploads: bool = False
    tournaments: bool = False
    comparisons: bool = False
    jobs: bool = False

    def __or__(self, other: Self) -> "Work":
        """Return the parts that one or the other has."""
        return Work(*(one or two for one, two in zip(self, other, strict=True)))


WHOLE_UPKEEP = Work(*(True for _ in Work._fields))


class ChangeDetector:
    """Remembers what it saw last, so that it notices a change."""

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] | None = None

    def find_work(self) -> Work:
        """Return what waits, or may have to be done after changes since the last call.

        The first call does not know of any change, and returns the whole upkeep.
        """
        *waits, finished_at, voided, ready_at, joined_at = _CHANGES.rows()[0]
        ratings_wait, *others = map(bool, waits)
        before, self._seen = self._seen, (finished_at, voided, ready_at, joined_at)
        if before is None:
            return WHOLE_UPKEEP
        voids = voided != before[1]
        arrivals = (ready_at, joined_at) != before[2:]
        changed = self._seen != before
        return Work(ratings_wait or changed, voids, arrivals, *others)


def _compose_look() -> ComposedQuery:
    """Return the query, with the columns of `Look`."""
    last_leaf = Fact.objects.exclude(leaf_kind="").exclude(number=None)
    last_number = last_leaf.order_by("-number").values("number")[:1]
    return row_of(
        ratings.fewest_open_games(),
        any_of(
            Fact.objects.filter(number=None),
            LogHead.objects.filter(last_fact__lt=last_number),
            DeckBatch.objects.filter(leaf=None),
        ),
        any_of(Match.objects.filter(seed="")),
        any_of(games.needing_hints()),
        any_of(games.hinted()),
        any_of(Game.objects.filter(status__in=OPEN)),
    )


def _compose_changes() -> ComposedQuery:
    """Return the query. Each part of it reads a few entries of an index.

    1. Whether something waits: for ratings, and for each part of `Work` from
       `cancelling` on.
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
    in_finals = Season.objects.filter(status=Season.Status.FINALS)
    return row_of(
        any_of(summaries.behind(), in_finals),
        any_of(unplayable_seats()),
        any_of(Submission.objects.filter(bots.claimable())),
        any_of(scheduled_now(), tournaments.running()),
        any_of(comparisons.running_rows()),
        any_of(analysis.waiting()),
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


_LOOK = FixedQuery(_compose_look)
_CHANGES = FixedQuery(_compose_changes)
