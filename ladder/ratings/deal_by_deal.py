"""Two bots deal by deal: how each did with the same decks.

Several games have the same decks on a ladder with `shared_deals` or `duplicate`. There
the luck of the cards is equal for both bots; only their opponents may differ.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from ladder.games.models import GameStatus, Seat
from ladder.games.shared_deals import deal_of
from ladder.ratings.models import Rating, RatingPoint, Season
from torres.rating.blocks import beaten_share
from torres.rating.joint_claims import INTERVAL_95_SDS
from torres.rating.ledger import EntryKind

LATEST_GAMES = 1_000
"""The latest games of each bot are searched for deals that both have played."""
MAX_DEALS = 100
"""The latest deals are shown, and the means are theirs."""
MIN_DEALS = 20
"""With fewer deals there is no interval, because the spread is not known well."""


@dataclass(frozen=True, slots=True)
class DealScore:
    """One bot's mean results in its games of a deal.

    `share` is the share of opponents beaten, a tie counts half; `points` are those of
    the game of Torres.
    """

    share: float
    points: float
    games: list[int]


@dataclass(frozen=True, slots=True)
class ComparedDeal:
    """A deal that two bots have played. It has the number of its first match."""

    deal: int
    one: DealScore
    other: DealScore

    @property
    def ahead(self) -> float:
        """Return by how much the first bot's share of opponents beaten is larger."""
        return self.one.share - self.other.share


@dataclass(frozen=True, slots=True)
class DealComparison:
    """Two bots on the deals that both have played, the latest first.

    `bot` and `other` are slugs. `ahead` and `points` are the mean differences, positive
    if the first bot did better; None without any deal. `low` and `high` are the 95 %
    interval of `ahead`, with the standard error of independent deals; None if there are
    fewer than `MIN_DEALS`.
    """

    bot: str
    other: str
    deals: list[ComparedDeal]
    ahead: float | None
    low: float | None
    high: float | None
    points: float | None


def has_deals(season: Season) -> bool:
    """True if several games of the ladder have the same decks."""
    return season.ladder.shared_deals or season.ladder.duplicate


def compare_deals(season: Season, one: Rating, other: Rating) -> DealComparison:
    """Compare two bots on the latest deals that both have played in a season.

    A deal of which only one game was rated is left out: it shows nothing that the
    result of this game does not show.
    """
    slugs = (one.bot.slug, other.bot.slug)
    if not has_deals(season):
        return _comparison(slugs, [])
    first, second = (_games_by_deal(season, rating) for rating in (one, other))
    common = sorted(
        (
            deal
            for deal in first.keys() & second.keys()
            if len(first[deal] | second[deal]) > 1
        ),
        reverse=True,
    )[:MAX_DEALS]
    scores = _scores(
        [one.bot_id, other.bot_id],
        {game for deal in common for game in first[deal] | second[deal]},
    )
    return _comparison(
        slugs,
        [
            ComparedDeal(
                deal,
                _mean(scores[one.bot_id], first[deal]),
                _mean(scores[other.bot_id], second[deal]),
            )
            for deal in common
        ],
    )


def _games_by_deal(season: Season, rating: Rating) -> dict[int, set[int]]:
    """Return the latest rated games of a bot that still count, by deal."""
    points = RatingPoint.objects.filter(
        season=season, bot=rating.bot_id, kind=EntryKind.GAME
    )
    latest = points.order_by("-seq").values_list("game", flat=True)[:LATEST_GAMES]
    seats = Seat.objects.filter(
        bot=rating.bot_id,
        game__in=list(latest),
        game__status=GameStatus.FINISHED,
        game__match__embargo=False,
    )
    by_deal: dict[int, set[int]] = defaultdict(set)
    for deal, game in seats.order_by().values_list(deal_of("game__match"), "game"):
        by_deal[deal].add(game)
    return by_deal


def _scores(
    bots: Collection[int], games: Collection[int]
) -> dict[int, dict[int, tuple[float, int]]]:
    """Return the share of opponents beaten and the points, by bot and game."""
    by_game: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    seats = Seat.objects.filter(game__in=games).order_by("game", "number")
    for game, bot, rank, points in seats.values_list("game", "bot", "rank", "score"):
        by_game[game].append((bot, rank or 0, points or 0))
    scores: dict[int, dict[int, tuple[float, int]]] = {bot: {} for bot in bots}
    for game, rows in by_game.items():
        ranks = [rank for _, rank, _ in rows]
        for seat, (bot, _, points) in enumerate(rows):
            if bot in scores:
                scores[bot][game] = (beaten_share(ranks, seat), points)
    return scores


def _mean(scores: dict[int, tuple[float, int]], games: Iterable[int]) -> DealScore:
    numbers = sorted(games)
    return DealScore(
        share=fmean(scores[game][0] for game in numbers),
        points=fmean(scores[game][1] for game in numbers),
        games=numbers,
    )


def _comparison(slugs: tuple[str, str], deals: list[ComparedDeal]) -> DealComparison:
    if not deals:
        return DealComparison(*slugs, [], None, None, None, None)
    differences = [deal.ahead for deal in deals]
    ahead = fmean(differences)
    low = high = None
    if len(deals) >= MIN_DEALS:
        spread = INTERVAL_95_SDS * stdev(differences) / math.sqrt(len(deals))
        low, high = ahead - spread, ahead + spread
    points = fmean(deal.one.points - deal.other.points for deal in deals)
    return DealComparison(*slugs, deals, ahead, low, high, points)
