"""Start, cancel and end comparisons of two versions of a bot."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.db import transaction
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import owns
from ladder.bots.submissions import CannotPlay
from ladder.extras.comparisons import selectors
from ladder.extras.comparisons.models import ComparisonStatus, VersionComparison
from ladder.games import services as games
from ladder.games.models import MAX_REASON_CHARS
from ladder.ratings.models import Ladder
from torres.common.errors import LadderError, TooMany
from torres.rating.blocks import GAMES
from torres.rating.description import check_ladder, read_tables
from torres.rating.sprt import SequentialTest

MAX_COMPARISONS = 10
"""The comparisons that an owner may start within `selectors.QUOTA_PERIOD`."""
DEFAULT_GAMES = 1000
MIN_GAMES = 32  # the test makes no decision before 16 blocks
MAX_GAMES = 2000
MAX_NELO = 1000.0
DEFAULT_BOUNDS = (0.0, 50.0)
DEFAULT_ERROR = 0.05
MIN_ERROR = 0.0001
MAX_ERROR = 0.5


class BadComparison(LadderError, code="bad-comparison", http_status=422):
    """These versions cannot be compared like this."""


class ComparisonOver(LadderError, code="wrong-state", http_status=409):
    """The comparison has ended already."""


@dataclass(frozen=True, slots=True)
class ComparisonTerms:
    """The choices of an owner. ``old`` is the number of a version; None: the last one.

    ``seats`` lists numbers of seats; empty stands for all of the ladder.
    """

    old: int | None = None
    seats: Sequence[int] = ()
    bounds: tuple[float, float] = DEFAULT_BOUNDS
    error: float = DEFAULT_ERROR
    max_games: int = DEFAULT_GAMES


DEFAULT_TERMS = ComparisonTerms()


@transaction.atomic
def start(
    by: User, bot: Bot, ladder: Ladder, terms: ComparisonTerms = DEFAULT_TERMS
) -> VersionComparison:
    """Test the version of a bot that plays now against an older one.

    Like in a challenge the bot may be benched. Raises BadComparison, CannotPlay,
    TooMany, and BadLadder if the ladder cannot be played as it is described.
    """
    check_ladder(ladder.description())
    _check_terms(terms)
    # The lock makes two requests at once count one after the other.
    User.objects.select_for_update().get(pk=by.pk)
    if not owns(by, bot) or bot.status not in (Bot.Status.ACTIVE, Bot.Status.BENCHED):
        raise BadComparison(
            f"{bot.slug} is not yours or it is {bot.status}, so it cannot play."
        )
    new, old = _versions(bot, terms.old)
    _check_quota(by)
    return VersionComparison.objects.create(
        bot=bot,
        new=new,
        old=old,
        by=by,
        ladder=ladder,
        ruleset=ladder.ruleset,
        switches=ladder.switches,
        limits=ladder.limits,
        sizes=_sizes(ladder, terms.seats),
        nelo0=terms.bounds[0],
        nelo1=terms.bounds[1],
        error=terms.error,
        max_games=terms.max_games - terms.max_games % GAMES,
    )


def cancel(comparison: VersionComparison, note: str = "") -> VersionComparison:
    """End a running comparison. Raises ComparisonOver if it has ended already."""
    if not end(comparison, ComparisonStatus.CANCELLED, note):
        comparison.refresh_from_db(fields=["status"])
        raise ComparisonOver(f"The comparison is {comparison.status} already.")
    return comparison


@transaction.atomic
def end(
    comparison: VersionComparison,
    status: ComparisonStatus,
    note: str = "",
    *,
    tested: int | None = None,
) -> bool:
    """End a comparison and its open games; False if it has ended already.

    Games that run end, too, because they would not count any more. ``tested`` is the
    number of blocks at which the test decided.
    """
    running = VersionComparison.objects.filter(
        pk=comparison.pk, status=ComparisonStatus.RUNNING
    )
    known = {} if tested is None else {"tested": tested}
    if not running.update(
        status=status, note=note[:MAX_REASON_CHARS], ended_at=Now(), **known
    ):
        return False
    games.end_games(selectors.open_games_of(comparison), "the comparison has ended")
    comparison.refresh_from_db(fields=["status", "note", "ended_at", "tested"])
    return True


def comparisons_left(by: User) -> int:
    """Return how many more comparisons the owner may start now."""
    started = selectors.comparisons_since(by, selectors.QUOTA_PERIOD)
    return max(0, MAX_COMPARISONS - started)


def default_test() -> SequentialTest:
    """Return the hypotheses of a test of which the owner has chosen nothing."""
    return SequentialTest(*DEFAULT_BOUNDS, alpha=DEFAULT_ERROR, beta=DEFAULT_ERROR)


def _check_terms(terms: ComparisonTerms) -> None:
    low, high = terms.bounds
    # NaN fails every comparison.
    if not -MAX_NELO <= low < high <= MAX_NELO:
        raise BadComparison(
            f"bounds: write two numbers of nElo from {-MAX_NELO:g} to {MAX_NELO:g}, the"
            " smaller one first, such as [0, 50]."
        )
    if not MIN_ERROR <= terms.error < MAX_ERROR:
        raise BadComparison(
            f"error: use a probability from {MIN_ERROR:g} to below {MAX_ERROR:g}."
        )
    if not MIN_GAMES <= terms.max_games <= MAX_GAMES:
        raise BadComparison(
            f"max_games: use a number from {MIN_GAMES} to {MAX_GAMES:,}."
        )


def _check_quota(by: User) -> None:
    if by.comparisons.filter(status=ComparisonStatus.RUNNING).exists():
        raise TooMany(
            "One of your comparisons is running. Cancel it, or wait until it ends."
        )
    if not comparisons_left(by):
        raise TooMany(
            f"The limit is {MAX_COMPARISONS} comparisons in 24 hours. Try again later."
        )


def _versions(bot: Bot, old: int | None) -> tuple[Submission, Submission]:
    """Return the version that plays, and the one with this number or the last one."""
    new = bot.submissions.filter(status=Submission.Status.READY).first()
    if new is None:
        raise BadComparison(
            f"{bot.slug} has no ready upload. Upload a program, or wait for its check."
        )
    if old is None:
        before = selectors.previous_version(bot)
        if before is None:
            raise BadComparison(
                f"{bot.slug} has no older version that was ready. Upload a new one."
            )
    else:
        before = bot.submissions.filter(number=old, ready_at__isnull=False).first()
        if before is None or before.pk == new.pk:
            raise BadComparison(
                f"old: {bot.slug} #{old} is no older version that was ready. Choose"
                " another number."
            )
    for version in (new, before):
        if not storages["bots"].exists(version.package):
            raise CannotPlay(f"The files of {version} are gone; upload them again.")
    return new, before


def _sizes(ladder: Ladder, seats: Sequence[int]) -> list[int]:
    """Return the numbers of seats in order. Raises BadComparison."""
    shares = read_tables(ladder.tables)
    played = [int(size) for size in sorted(shares) if shares[size]]
    if wrong := set(seats) - set(played):
        known = ", ".join(map(str, played))
        raise BadComparison(
            f"seats: games on {ladder.slug} have {known} seats, not {min(wrong)}."
        )
    return sorted(set(seats)) or played
