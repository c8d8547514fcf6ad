"""The events of ratings and seasons."""

from collections.abc import Mapping, Sequence

from ladder.bots.models import Bot
from ladder.events.kinds import EventKind
from ladder.events.models import Event
from ladder.events.outbox import API, event, publish, publish_all
from ladder.ratings.models import Entry, Season
from torres.common.json_object import JsonObject
from torres.rating.ledger import EntryKind
from torres.rating.trueskill import Skill

MAX_LISTED = 100
"""A correction may change thousands of bots. Then the event only counts them."""
_KIND_OF = {
    Season.Status.OPEN: EventKind.SEASON_REOPENED,
    Season.Status.FROZEN: EventKind.SEASON_FROZEN,
    Season.Status.FINALS: EventKind.SEASON_FINALS,
    Season.Status.ARCHIVED: EventKind.SEASON_ARCHIVED,
}


def announce_ratings(
    season: Season, entries: Sequence[Entry], known: Mapping[int, str]
) -> None:
    """Tell the ratings after each rated game, and that games were taken out.

    `known` has slugs of bots by their ids. The others are read, so that the cost is one
    or two statements for all entries.
    """
    games = [entry for entry in entries if entry.kind == EntryKind.GAME]
    voids = [entry for entry in entries if entry.kind == EntryKind.VOID]
    if not games and not voids:
        return
    listed = [*games, *(entry for entry in voids if len(entry.changes) <= MAX_LISTED)]
    bots = {change["bot"] for entry in listed for change in entry.changes}
    slugs = dict(known)
    if unknown := bots - slugs.keys():
        slugs |= Bot.objects.filter(pk__in=unknown).values_list("pk", "slug")
    about = {"ladder": season.ladder.slug, "season": season.number}
    events = [_rated(about, entry, slugs) for entry in games]
    if voids:
        events.append(_corrected(about, voids, slugs))
    publish_all(events)


def _rated(about: JsonObject, entry: Entry, slugs: dict[int, str]) -> Event:
    ratings = []
    for change in entry.changes:
        if change["after"] is not None:
            skill = Skill(*change["after"])
            ratings.append(
                {
                    "bot": slugs[change["bot"]],
                    "mu": skill.mu,
                    "sigma": skill.sigma,
                    "rating": skill.shown_rating,
                }
            )
    data = {
        **about,
        "game": entry.game_id,
        "bots": [rating["bot"] for rating in ratings],
        "ratings": ratings,
        "url": f"{API}games/{entry.game_id}/",
    }
    return event(EventKind.RATING_CHANGED, data)


def _corrected(
    about: JsonObject, voids: Sequence[Entry], slugs: dict[int, str]
) -> Event:
    changed = [change["bot"] for entry in voids for change in entry.changes]
    data = {
        **about,
        "games": [entry.game_id for entry in voids][:MAX_LISTED],
        "changed": len(changed),
        "bots": [slugs[bot] for bot in changed if bot in slugs],
        "url": f"{API}ladders/{about['ladder']}/leaderboard/",
    }
    return event(EventKind.RATING_CORRECTED, data)


def announce_bench(bot: Bot, ladder: str) -> None:
    """Tell the owner of a bot that forfeits have benched it on a ladder."""
    data = {
        "status": Bot.Status.BENCHED,
        "ladder": ladder,
        "bots": [bot.slug],
        "url": f"{API}bots/{bot.slug}/",
    }
    publish(EventKind.BOT_STATUS, data, public=False, owners=[bot.owner_id])


def announce_new_season(season: Season) -> None:
    _announce_season(EventKind.SEASON_STARTED, season, Season.Status.OPEN)


def announce_status(season: Season, status: str) -> None:
    """Tell that a season is frozen, open again, in its finals, or archived."""
    after = Season.Status(status)
    _announce_season(_KIND_OF[after], season, after)


def _announce_season(kind: EventKind, season: Season, status: Season.Status) -> None:
    slug = season.ladder.slug
    data = {
        "ladder": slug,
        "season": season.number,
        "status": status,
        "url": f"{API}ladders/{slug}/leaderboard/",
    }
    publish(kind, data)
