"""What the rated games of a season say of a bot beyond its rating. Reads only."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from django.core.cache import cache
from django.db.models import QuerySet

from ladder.bots.models import Bot
from ladder.games.models import GameStatus, Seat
from ladder.ratings import leaderboard
from ladder.ratings.core import stopping_rule
from ladder.ratings.core.trueskill import Parameters, Skill, chance
from ladder.ratings.models import Entry, Rating, Season

CERTAIN = 0.95
KEEP = 3600
"""So many seconds: a trend is that of one rating, which an entry replaces."""
TREND = 20
"""The trend is what the last so many games moved the shown number by."""
CHUNK = 500
"""Bands are looked for in so many places at once."""


@dataclass(slots=True)
class SeatTally:
    """Games together, and how many of them the first came before the other."""

    games: int = 0
    before: int = 0
    ties: int = 0

    def add(self, mine: int, theirs: int) -> None:
        self.games += 1
        self.before += mine < theirs
        self.ties += mine == theirs


def record(season: Season, rating: Rating) -> dict[str, Any]:
    """Return a bot's numbers, its trend, and its strength by seat and by players."""
    found = numbers(season, rating)
    return found | {"strength": strength(season, rating.bot)}


def numbers(season: Season, rating: Rating) -> dict[str, Any]:
    """Return what is known of a bot without going through all its games."""
    return {
        "bot": rating.bot.slug,
        "rank": leaderboard.rank(season, rating),
        "mu": rating.mu,
        "sigma": rating.sigma,
        "rating": rating.rating,
        "low": rating.mu - leaderboard.INTERVAL * rating.sigma,
        "high": rating.mu + leaderboard.INTERVAL * rating.sigma,
        "games": rating.games,
        "forfeits": rating.forfeits,
        "fresh": rating.fresh,
        "settling": rating.fresh < leaderboard.SETTLING,
        "trend": trend(season, rating),
    }


def trend(season: Season, rating: Rating) -> float | None:
    """Return how the shown number moved in the last games; null before there are.

    Kept until an entry moves the rating again: a page of rows asks for 50 of them.
    """
    key = f"trend:{season.pk}:{rating.bot_id}:{rating.seq}:{rating.rating!r}"
    kept: tuple[float | None] | None = cache.get(key)
    if kept is None:
        kept = (_trend(season, rating),)
        cache.set(key, kept, KEEP)
    return kept[0]


def _trend(season: Season, rating: Rating) -> float | None:
    # Looked for among its last seats: a season's ledger is long.
    seats = _of(season, rating.bot).order_by("-game")
    entries = Entry.objects.filter(
        season=season,
        kind=Entry.Kind.GAME,
        game__in=list(seats.values_list("game", flat=True)[: 2 * TREND]),
    ).order_by("-seq")
    first = list(entries.values_list("changes", flat=True)[:TREND])[-1:]
    for change in first[0] if first else ():
        if change["bot"] == rating.bot_id and change["before"]:
            mu, sigma = change["before"]
            return float(rating.rating - (mu - 3 * sigma))
    return None


def strength(season: Season, bot: Bot) -> list[dict[str, Any]]:
    """Return for each number of players and seat how many opponents it came before.

    `share` is of its opponents there, a tie counting half; seats count from 0.
    """
    cells: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    mine, theirs = _seats(season, bot)
    for game, (seat, players, rank) in mine.items():
        others = [other for _, other in theirs[game]]
        beaten = sum((rank < other) + 0.5 * (rank == other) for other in others)
        cells[players, seat].append((rank, beaten / max(1, len(others))))
    return [
        {
            "players": players,
            "seat": seat,
            "games": len(results),
            "wins": sum(rank == 1 for rank, _ in results),
            "share": sum(share for _, share in results) / len(results),
        }
        for (players, seat), results in sorted(cells.items())
    ]


def opponents(season: Season, rating: Rating) -> list[dict[str, Any]]:
    """Return how it did against each bot that it met, the most met first."""
    mine, theirs = _seats(season, rating.bot)
    tallies: dict[int, SeatTally] = defaultdict(SeatTally)
    for game, (_, _, rank) in mine.items():
        for other, its in theirs[game]:
            tallies[other].add(rank, its)
    ratings = Rating.objects.filter(season=season, bot__in=tallies)
    found = [
        meeting(season, rating, other, tallies[other.bot_id])
        for other in ratings.select_related("bot")
    ]
    return sorted(found, key=lambda row: (-row["games"], row["other"]))


def meeting(
    season: Season, one: Rating, other: Rating, tally: SeatTally | None = None
) -> dict[str, Any]:
    """Return head to head: what was, what is to be expected, and who is better.

    `chance` is of coming before the other in their next game, `better` of the higher
    skill; the difference of the means has its 95 % interval.
    """
    known = tally or _together(season, one.bot, other.bot)
    a, b = Skill(one.mu, one.sigma), Skill(other.mu, other.sigma)
    apart, spread = a.mu - b.mu, leaderboard.INTERVAL * math.hypot(a.sigma, b.sigma)
    return {
        "bot": one.bot.slug,
        "other": other.bot.slug,
        "games": known.games,
        "before": known.before,
        "ties": known.ties,
        "chance": chance(a, b, Parameters(**season.parameters)),
        "better": stopping_rule.better(a, b),
        "apart": apart,
        "low": apart - spread,
        "high": apart + spread,
    }


def bands(season: Season, first: int = 1, last: int = 1000) -> list[dict[str, Any]]:
    """Return the bands that hold the places from `first` to `last`, each of them whole.

    A band goes on while its first bot is not better than the next with 95 %: its bots
    can't be told apart.
    """
    found: list[dict[str, Any]] = []
    head: Skill | None = None
    for place, skill in enumerate(_skills(season), start=1):
        if head is None or stopping_rule.better(head, skill) >= CERTAIN:
            if place > last:
                break
            head = skill
            found.append({"first": place, "last": place, "mu": skill.mu})
        found[-1]["last"] = place
    return [band for band in found if band["last"] >= first]


def _skills(season: Season) -> Iterator[Skill]:
    """Go through the skills, best first, and read no more than is asked for."""
    rows = Rating.objects.filter(season=season).order_by("-rating", "bot")
    numbers = rows.values_list("mu", "sigma")
    for start in count(0, CHUNK):
        part = [Skill(*row) for row in numbers[start : start + CHUNK]]
        yield from part
        if len(part) < CHUNK:
            return


def _together(season: Season, one: Bot, other: Bot) -> SeatTally:
    tally = SeatTally()
    mine = dict(_of(season, one).values_list("game", "rank"))
    for game, rank in (
        _of(season, other).filter(game__in=mine).values_list("game", "rank")
    ):
        tally.add(mine[game] or 0, rank or 0)
    return tally


def _of(season: Season, bot: Bot) -> QuerySet[Seat]:
    return Seat.objects.filter(
        submission__bot=bot,
        game__status=GameStatus.FINISHED,
        game__match__pairing__season=season,
    )


def _seats(
    season: Season, bot: Bot
) -> tuple[dict[int, tuple[int, int, int]], dict[int, list[tuple[int, int]]]]:
    """Return by game: its seat, the number of players and its rank; and the others."""
    own = _of(season, bot)
    mine = {
        game: (seat, players, rank or 0)
        for game, seat, players, rank in own.values_list(
            "game", "number", "game__match__seats", "rank"
        )
    }
    theirs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    others = Seat.objects.filter(game__in=own.values("game"))
    rows = others.exclude(submission__bot=bot)
    for game, other, rank in rows.values_list("game", "submission__bot", "rank"):
        theirs[game].append((other, rank or 0))
    return mine, theirs
