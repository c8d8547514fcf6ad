"""Queries about comparisons, their blocks and games. Reads only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from ladder.accounts.roles import Person
from ladder.bots.models import Bot, Submission
from ladder.extras.comparisons.models import (
    ComparisonBlock,
    ComparisonStatus,
    VersionComparison,
)
from ladder.games.models import OPEN, Game, GameStatus, Match, Seat
from torres.rating.blocks import GAMES
from torres.rating.sprt import EQUAL
from torres.rating.version_report import expected_games_left, version_figures
from torres.rating.version_test import VersionTest, resumed

QUOTA_PERIOD = timedelta(hours=24)
SHOWN_BLOCKS = 5


def running_rows() -> QuerySet[VersionComparison]:
    """Return the running comparisons without the rows that they refer to."""
    return VersionComparison.objects.filter(status=ComparisonStatus.RUNNING)


def running() -> QuerySet[VersionComparison]:
    """Return the running comparisons, the oldest first."""
    return _with_versions().filter(status=ComparisonStatus.RUNNING).order_by("pk")


def comparisons_of(person: Person) -> QuerySet[VersionComparison]:
    """Return the comparisons of the bots that a person owns, newest first."""
    own = _with_versions().filter(bot__owner=person.pk, bot__owner__isnull=False)
    return own.order_by("-pk")


def _with_versions() -> QuerySet[VersionComparison]:
    return VersionComparison.objects.select_related(
        "bot__owner", "new__bot", "old__bot", "ladder"
    )


def comparisons_since(person: Person, period: timedelta) -> int:
    """Count the comparisons that a person started within a period before now."""
    recent = VersionComparison.objects.filter(
        by=person.pk, created_at__gt=Now() - period
    )
    return recent.count()


def previous_version(bot: Bot) -> Submission | None:
    """Return the version that played before the one that plays now, if there is one."""
    retired = bot.submissions.filter(
        status=Submission.Status.RETIRED, ready_at__isnull=False
    )
    return retired.order_by("-ready_at", "-number").first()


def open_games() -> int:
    """Count all games of the service that are scheduled or running."""
    return Game.objects.filter(status__in=OPEN).count()


def open_games_by_comparison() -> Counter[int]:
    """Count the open games of each comparison."""
    rows = Game.objects.filter(status__in=OPEN, match__kind=Match.Kind.COMPARISON)
    of = "match__comparison_block__comparison"
    return Counter(rows.values_list(of, flat=True))


def open_games_of(comparison: VersionComparison) -> list[int]:
    games = Game.objects.filter(
        match__comparison_block__comparison=comparison, status__in=OPEN
    )
    return list(games.values_list("pk", flat=True))


def blocks_without_score(comparison: VersionComparison) -> list[ComparisonBlock]:
    """Return the blocks without a score and without an open game."""
    blocks = comparison.blocks.filter(
        ~Exists(Game.objects.filter(match=OuterRef("match"), status__in=OPEN)),
        score=None,
    )
    return list(blocks.order_by("number"))


def revised_blocks(comparison: VersionComparison) -> list[ComparisonBlock]:
    """Return the blocks of which a game was voided after they had their score."""
    voids = Count("match__games", Q(match__games__status=GameStatus.VOIDED))
    return list(
        comparison.blocks.filter(score__isnull=False)
        .annotate(now=voids)
        .exclude(now=F("voids"))
    )


@dataclass(frozen=True, slots=True)
class BlockGames:
    """The games of a block: ranks by seat for each finished one, and the others."""

    ranks: dict[int, list[int]]
    dead: list[int]
    voids: int

    @property
    def complete(self) -> bool:
        return len(self.ranks) == GAMES


def games_of_block(block: ComparisonBlock) -> BlockGames:
    """Return what became of the games of a block. ``ranks`` is keyed by index."""
    games = Game.objects.filter(match=block.match_id).defer("replay")
    by_status = Counter(game.status for game in games)
    seats = Seat.objects.filter(
        game__match=block.match_id, game__status=GameStatus.FINISHED
    ).order_by("game__index", "number")
    ranks: dict[int, list[int]] = {}
    for index, rank in seats.values_list("game__index", "rank"):
        ranks.setdefault(index, []).append(rank or 0)
    dead = [game.pk for game in games if game.status == GameStatus.DEAD]
    return BlockGames(ranks, dead, by_status[GameStatus.VOIDED])


def known_scores(comparison: VersionComparison) -> list[float]:
    """Return the scores from the first block on, up to one that has none yet.

    The test takes in blocks in this order, so that quick games count no more than
    slow ones.
    """
    scores: list[float] = []
    rows = comparison.blocks.order_by("number").values_list("number", "score")
    for number, score in rows:
        if score is None or number != len(scores):
            break
        scores.append(score)
    return scores


def version_test(comparison: VersionComparison) -> VersionTest:
    """Return the test with all its blocks so far."""
    decided = comparison.status == ComparisonStatus.DECIDED
    return resumed(
        comparison.sequential_test(),
        known_scores(comparison),
        stopped_at=comparison.tested if decided else None,
    )


@dataclass(frozen=True, slots=True)
class WorstBlock:
    """A block that the old version won, with the numbers of its games."""

    block: int
    score: float
    seats: int
    games: list[int]


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """A comparison and its figures. ``figures`` is as in `version_figures`."""

    comparison: VersionComparison
    test: VersionTest
    figures: dict[str, Any]
    games_left: float | None
    worst: list[WorstBlock]


def report(comparison: VersionComparison) -> ComparisonReport:
    """Return the figures of a comparison as they are now."""
    test = version_test(comparison)
    running = comparison.status == ComparisonStatus.RUNNING
    return ComparisonReport(
        comparison,
        test,
        version_figures(test),
        expected_games_left(test) if running else None,
        _worst_blocks(comparison),
    )


def _worst_blocks(comparison: VersionComparison) -> list[WorstBlock]:
    rows = comparison.blocks.filter(score__lt=EQUAL).order_by("score", "number")
    blocks: Sequence[ComparisonBlock] = list(rows[:SHOWN_BLOCKS])
    games: dict[int, list[int]] = {}
    finished = Game.objects.filter(
        match__in=[block.match_id for block in blocks], status=GameStatus.FINISHED
    ).order_by("index")
    for match, game in finished.values_list("match", "pk"):
        games.setdefault(match, []).append(game)
    return [
        WorstBlock(
            block.number + 1,
            block.score or 0.0,
            comparison.sizes[block.number % len(comparison.sizes)],
            games.get(block.match_id, []),
        )
        for block in blocks
    ]
