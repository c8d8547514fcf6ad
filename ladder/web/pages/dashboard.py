"""The bots of a signed-in user at a glance: ranks, forfeits, uploads, next steps.

The number of queries does not depend on how many bots there are.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import (
    Exists,
    F,
    FloatField,
    Func,
    OuterRef,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Seat
from ladder.ratings.models import Membership, Rating, RatingPoint, Season
from torres.rating.ledger import EntryKind
from torres.rating.trueskill import SHOWN_RATING_SIGMAS

CHANGE_PERIOD = timedelta(days=1)
MAX_OWN_BOTS = 100
"""An owner has at most TORRES_BOTS_PER_OWNER bots; operators may set that higher."""


@dataclass(frozen=True, slots=True)
class OwnStanding:
    """An own bot on one ladder. `change` is that of the rating within a day."""

    rating: Rating
    rank: int
    of: int
    change: float | None


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next act that the owner can do for a bot, and the page for it."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class OwnBot:
    """One bot on the dashboard. `places` are its memberships that need a word."""

    bot: Bot
    standings: list[OwnStanding]
    places: list[Membership]
    newest: Submission | None
    forfeit: Seat | None
    next_step: NextStep | None


def own_bots(owner: User) -> list[OwnBot]:
    """Return the bots of a user, newest first."""
    bots = list(_bots(owner))
    newest = Submission.objects.defer("log").in_bulk(_ids(bots, "newest_id"))
    forfeits = Seat.objects.select_related("game").in_bulk(_ids(bots, "forfeit_id"))
    standings = _standings(bots)
    places = _places(bots)
    return [
        _own_bot(
            bot,
            standings[bot.pk],
            places[bot.pk],
            newest.get(getattr(bot, "newest_id", None)),
            forfeits.get(getattr(bot, "forfeit_id", None)),
        )
        for bot in bots
    ]


def _bots(owner: User) -> QuerySet[Bot]:
    uploads = Submission.objects.filter(bot=OuterRef("pk")).order_by("-number")
    # By submission, because forfeits are indexed so: most bots have very few.
    forfeits = Seat.objects.filter(
        submission__bot=OuterRef("pk"), game__match__embargo=False
    ).exclude(fault="")
    return (
        Bot.objects.filter(owner=owner)
        .annotate(
            newest_id=Subquery(uploads.values("pk")[:1]),
            forfeit_id=Subquery(forfeits.order_by("-game").values("pk")[:1]),
        )
        .order_by("-pk")[:MAX_OWN_BOTS]
    )


def _ids(bots: list[Bot], name: str) -> list[int]:
    return [key for bot in bots if (key := getattr(bot, name)) is not None]


def _standings(bots: list[Bot]) -> dict[int, list[OwnStanding]]:
    """Return the present ratings of the bots with their ranks, the best ladder first.

    The change is against the rating after the last game that ended a day ago or
    earlier, or against the first rating of a newcomer.
    """
    same_season = Rating.objects.filter(season=OuterRef("season")).order_by()
    better = same_season.filter(rating__gt=OuterRef("rating"))
    rows = (
        Rating.objects.filter(bot__in=bots)
        .exclude(season__status=Season.Status.ARCHIVED)
        .select_related("season__ladder")
        .annotate(better=_count(better), rated=_count(same_season), base=_base())
        .order_by("-season__ladder__default", "season__ladder")
    )
    standings: dict[int, list[OwnStanding]] = defaultdict(list)
    for row in rows:
        change = row.rating - row.base if row.games and row.base is not None else None
        standings[row.bot_id].append(
            OwnStanding(row, row.better + 1, row.rated, change)
        )
    return standings


def _count(rows: QuerySet[Rating]) -> Subquery:
    return Subquery(rows.values(n=Func(F("pk"), function="COUNT"))[:1])


def _base() -> Coalesce:
    points = RatingPoint.objects.filter(season=OuterRef("season"), bot=OuterRef("bot"))
    shown = F("mu") - SHOWN_RATING_SIGMAS * F("sigma")
    since = timezone.now() - CHANGE_PERIOD
    earlier = Game.objects.filter(pk=OuterRef("game"), finished_at__lte=since)
    before = points.filter(Exists(earlier), kind=EntryKind.GAME).order_by("-seq")
    return Coalesce(
        Subquery(before.values(shown=shown)[:1]),
        Subquery(points.order_by("seq").values(shown=shown)[:1]),
        output_field=FloatField(),
    )


def _places(bots: list[Bot]) -> dict[int, list[Membership]]:
    places: dict[int, list[Membership]] = defaultdict(list)
    rows = Membership.objects.filter(bot__in=bots).select_related("ladder")
    for row in rows.order_by("ladder"):
        places[row.bot_id].append(row)
    return places


def _own_bot(
    bot: Bot,
    standings: list[OwnStanding],
    places: list[Membership],
    newest: Submission | None,
    forfeit: Seat | None,
) -> OwnBot:
    return OwnBot(
        bot=bot,
        standings=standings,
        places=[p for p in places if p.status != Membership.Status.ACTIVE],
        newest=newest,
        forfeit=forfeit,
        next_step=_next_step(bot, places, newest),
    )


def _next_step(
    bot: Bot, places: list[Membership], newest: Submission | None
) -> NextStep | None:
    """Return what keeps a bot from playing better or at all; None if nothing does."""
    page = reverse("bot-page", args=[bot.slug])
    if bot.status == Bot.Status.WITHDRAWN:
        return NextStep(_("You have withdrawn it. Let it play again"), page)
    if bot.status != Bot.Status.ACTIVE:
        return NextStep(
            _("It does not play. Read its status, then ask operators"), page
        )
    return _upload_step(page, newest) or _ladder_step(page, places)


def _upload_step(page: str, newest: Submission | None) -> NextStep | None:
    if newest is None:
        return NextStep(_("Upload its first program"), f"{page}#upload")
    upload = reverse("submission-page", args=[newest.pk])
    if newest.status == Submission.Status.REJECTED:
        return NextStep(_("Read why the newest upload was rejected"), upload)
    if newest.status == Submission.Status.WAITING:
        return NextStep(_("Read for what the newest upload waits"), upload)
    return None


def _ladder_step(page: str, places: list[Membership]) -> NextStep | None:
    statuses = {place.status for place in places}
    if Membership.Status.BENCHED in statuses:
        return NextStep(_("It is benched for forfeits. Correct it, then upload"), page)
    if places and Membership.Status.ACTIVE not in statuses:
        return NextStep(_("It plays on no ladder. Let it join one"), page)
    return None
