"""The contents of the page of a comparison, and of its part of a bot's page."""

from dataclasses import dataclass

from django.db.models import QuerySet

from ladder.bots.models import Bot, Submission
from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import ComparisonStatus, VersionComparison
from ladder.ratings.models import Ladder, Season
from torres.rating.sprt import SequentialTest
from torres.rating.version_report import odds_text, verdict_sentence

MAX_COMPARISONS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ComparisonOffer:
    """The test that an owner may start, with its bounds, and earlier tests."""

    new: Submission | None
    old: Submission | None
    ladders: list[Ladder]
    test: SequentialTest
    max_games: int
    expected: "ExpectedGames"
    left: int
    running: VersionComparison | None
    latest: QuerySet[VersionComparison]


@dataclass(frozen=True, slots=True)
class ExpectedGames:
    """The expected number of games if the effect is at a bound, and at worst."""

    low: float
    worst: float
    high: float


def offer(bot: Bot) -> ComparisonOffer | None:
    """Return the part of a bot's page for its owner; None if no version is ready."""
    if bot.owner is None:
        return None
    new = bot.submissions.filter(status=Submission.Status.READY).first()
    test = services.default_test()
    latest = selectors.comparisons_of(bot.owner).filter(bot=bot)
    running = selectors.comparisons_of(bot.owner).filter(
        status=ComparisonStatus.RUNNING
    )
    if new is None and not latest.exists():
        return None
    return ComparisonOffer(
        new,
        selectors.previous_version(bot),
        list(_ladders()),
        test,
        services.DEFAULT_GAMES,
        _expected(test),
        services.comparisons_left(bot.owner),
        running.first(),
        latest[:MAX_COMPARISONS_SHOWN],
    )


def _ladders() -> QuerySet[Ladder]:
    """Return the ladders with a season that is not archived, the default one first."""
    seasons = Season.objects.exclude(status=Season.Status.ARCHIVED)
    return Ladder.objects.filter(pk__in=seasons.values("ladder")).order_by(
        "-default", "pk"
    )


def comparison_details(comparison: VersionComparison) -> dict[str, object]:
    """Return the contents of the page of a comparison.

    `waits` is true if none of its games is open, because all workers are busy.
    """
    report = selectors.report(comparison)
    evidence = report.figures["e_value"] or {"better": 1.0, "worse": 1.0}
    new = f"#{comparison.new.number}"
    old = f"#{comparison.old.number}"
    is_running = comparison.status == ComparisonStatus.RUNNING
    open_games = selectors.open_games_by_comparison()[comparison.pk]
    return {
        "report": report,
        "sentence": verdict_sentence(report.test, new, old),
        "better": odds_text(evidence["better"]),
        "worse": odds_text(evidence["worse"]),
        "expected": _expected(report.test.test),
        "is_running": is_running,
        "waits": is_running and not open_games,
    }


def _expected(test: SequentialTest) -> ExpectedGames:
    return ExpectedGames(
        test.expected_games(test.nelo0),
        test.worst_expected_games,
        test.expected_games(test.nelo1),
    )
