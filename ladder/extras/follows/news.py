"""News of a bot, a ladder or a tournament, in sentences: its events and its changes.

A change is the difference of two states. A state is JSON, and names bots by their ids,
so that it holds no name of a deleted account.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Sum
from django.utils.translation import gettext as _

from ladder.bots.models import Bot
from ladder.events import texts
from ladder.events.kinds import EventKind
from ladder.events.stream import EventRow
from ladder.extras.follows.models import Followable
from ladder.ratings import leaderboard
from ladder.ratings.models import Ladder, Rating, Season, SeatSummary
from ladder.tournaments import visibility
from ladder.tournaments.models import Tournament
from torres.common.quoting import printable

LEADERS = 5
MAX_EVENTS = 10
"""The events of one bot, ladder or tournament in a mail: the newest ones."""
EVENT_KEYS = {Bot: "bots", Ladder: "ladder", Tournament: "tournament"}
"""The key at which the data of an event name the bot, the ladder or the tournament."""
_DECIDES = {EventKind.TOURNAMENT_FINISHED, EventKind.TOURNAMENT_REVEALED}


class BotPlace(NamedTuple):
    """A bot on a ladder. `wins` counts the rated games in which it ranked first."""

    season: int
    rank: int
    rating: float
    games: int
    wins: int


def state(subject: Followable) -> dict[str, Any]:
    """Return the present state. `sentences` tells its changes.

    For a bot it has the columns of `BotPlace` by slugs of ladders, for a ladder the
    ids of the best bots.
    """
    if isinstance(subject, Bot):
        return _places(subject)
    if isinstance(subject, Ladder):
        season = leaderboard.newest_season(subject.slug)
        rows = leaderboard.leaderboard_page(season, 0, LEADERS).rows if season else []
        return {"leaders": [row.id for row in rows]}
    return {}


def _places(bot: Bot) -> dict[str, list[float]]:
    rows = Rating.objects.filter(bot=bot).select_related("season__ladder")
    places = {}
    for row in rows.exclude(season__status=Season.Status.ARCHIVED):
        seats = SeatSummary.objects.filter(season=row.season, bot=bot)
        place = BotPlace(
            row.season.number,
            leaderboard.rank(row.season, row),
            row.rating,
            row.games,
            seats.aggregate(wins=Sum("wins"))["wins"] or 0,
        )
        places[row.season.ladder.slug] = list(place)
    return places


def sentences(
    subject: Followable,
    before: dict[str, Any] | None,
    now: dict[str, Any],
    events: Sequence[EventRow],
) -> list[str]:
    """Return what happened between two states, and the given events, oldest first.

    ``before`` is None if nothing is known to compare with.
    """
    lines = [texts.sentence(event.kind, event.data) for event in events[-MAX_EVENTS:]]
    if isinstance(subject, Tournament):
        if any(event.kind in _DECIDES for event in events):
            lines += _winners(subject)
    elif before is not None and isinstance(subject, Bot):
        lines += _moves(before, now)
    elif before is not None and before["leaders"] != now["leaders"]:
        lines.append(_leaders(before["leaders"], now["leaders"]))
    return [printable(line) for line in lines]


def _moves(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    lines = []
    for ladder, columns in now.items():
        place = BotPlace(*columns)
        past = BotPlace(*before[ladder]) if ladder in before else None
        if past is None or past.season != place.season:
            past = BotPlace(place.season, 0, 0.0, 0, 0)
        games = place.games - past.games
        if games <= 0:  # voided games may be more than new ones
            continue
        by = f" ({place.rating - past.rating:+.2f})" if past.rank else ""
        lost = max(games - (place.wins - past.wins), 0)
        moved = past.rank not in (0, place.rank)
        words = {
            "ladder": ladder,
            "rank": f"{place.rank}{_was(past.rank)}" if moved else place.rank,
            "rating": f"{place.rating:.2f}{by}",
            "won": games - lost,
            "lost": lost,
            "games": games,
        }
        text = _(
            "%(ladder)s: rank %(rank)s, rating %(rating)s; won %(won)s and lost"
            " %(lost)s of the last %(games)s games."
        )
        lines.append(text % words)
    return lines


def _leaders(before: Sequence[int], now: Sequence[int]) -> str:
    names = dict(Bot.objects.filter(pk__in=now).values_list("pk", "slug"))
    places = []
    for rank, bot in enumerate(now, start=1):
        was = before.index(bot) + 1 if bot in before else None
        change = "" if was == rank else _was(was) if was else f" ({_('new')})"
        places.append(f"{rank}. {names[bot]}{change}")
    return _("The best bots: %(bots)s.") % {"bots": ", ".join(places)}


def _was(rank: int) -> str:
    return " (" + _("was %(rank)s") % {"rank": rank} + ")"


def _winners(tournament: Tournament) -> list[str]:
    """Return who won, if all results are shown."""
    if not visibility.is_complete(tournament):
        return []
    lines = visibility.overview(tournament).lines
    winners = [line.bot for line in lines if line.rank == 1]
    return [_("Won by %(bots)s.") % {"bots": texts.listed(winners)}] if winners else []
