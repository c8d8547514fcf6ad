"""Parts of the page of a bot: its forfeits, and the seasons that it can show."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet

from ladder.bots.models import Bot
from ladder.games.models import Seat
from ladder.ratings.models import Rating, Season

MAX_FORFEITS = 10
MAX_SEASONS = 30


@dataclass(frozen=True, slots=True)
class SeasonChoice:
    """The season of a ladder that a visitor wants to see on the page of a bot."""

    ladder: str
    number: int


def latest_forfeits(bot: Bot) -> QuerySet[Seat]:
    """Return the seats in which a bot forfeited lately, in games that may be seen.

    They are found by the submissions of the bot, because an index has the forfeits of
    each submission.
    """
    seats = Seat.objects.filter(submission__bot=bot, game__match__embargo=False)
    forfeits = seats.exclude(fault="").select_related("game", "submission")
    return forfeits.defer(
        "game__replay", "submission__log", "submission__report"
    ).order_by("-game")[:MAX_FORFEITS]


def seasons_of(bot: Bot) -> dict[int, list[Season]]:
    """Return the seasons in which a bot has a rating, newest first, by ladder."""
    rated = Rating.objects.filter(bot=bot).values("season")
    seasons: dict[int, list[Season]] = defaultdict(list)
    rows = Season.objects.filter(pk__in=rated).select_related("ladder")
    for season in rows.order_by("-number", "-pk")[:MAX_SEASONS]:
        seasons[season.ladder_id].append(season)
    return seasons


def shown_ratings(bot: Bot, chosen: SeasonChoice | None) -> list[Rating]:
    """Return the ratings for the page of a bot: one for each ladder.

    These are the ones in the present seasons, except for the ladder of `chosen`. An
    empty list if the bot was not rated in the chosen season, or in no present one.
    """
    rows = Rating.objects.filter(bot=bot).select_related("season__ladder", "bot")
    present = rows.exclude(season__status=Season.Status.ARCHIVED)
    if chosen is None:
        return list(present.order_by("season__ladder"))
    named = rows.filter(
        season__ladder__slug=chosen.ladder, season__number=chosen.number
    )
    others = present.exclude(season__ladder__slug=chosen.ladder)
    found = list(named)
    return [*found, *others.order_by("season__ladder")] if found else []
