"""The game on the home page and Torres TV: the best one that runs, or of the day.

A game is good if its bots have high ratings, close ratings and, at its end, close
scores. Games of tournaments come before equal ones of ladders.
"""

from collections.abc import Sequence
from datetime import timedelta
from statistics import fmean

from django.core.cache import cache
from django.db.models import Max, QuerySet
from django.utils import timezone

from ladder.games import visibility as games
from ladder.games.models import Game, GameStatus, Match, Seat
from ladder.games.shared_deals import undecided
from ladder.ratings.models import Rating, Season

RUNNING = 30
FINISHED = 200
"""This many of the latest games are compared, however many there are."""
SPREAD_WEIGHT = 0.5
"""The part of the difference between the best and the worst rating that counts."""
MARGIN_WEIGHT = 0.1  # of the difference in points between the first and the second
TOURNAMENT_BONUS = 5.0
DAY = timedelta(days=1)
KEPT_OF_THE_DAY = 6
KEPT_TTL_S = 24 * 3600
DAY_TTL_S = 60

_NOW_KEY, _DAY_KEY, _FRESH_KEY = "featured-now", "featured-day", "featured-day-is-fresh"


def featured_game() -> int | None:
    """Return the best running game; if none runs, the best one of the day."""
    return running_game() or game_of_the_day()


def running_game() -> int | None:
    """Return the best running game that may be watched. It is kept until it ends.

    The page and the stream of one server therefore show the same game.
    """
    running = _without_comparisons(games.watchable_games())
    kept: int | None = cache.get(_NOW_KEY)
    if kept is not None and running.filter(pk=kept).exists():
        return kept
    best = next(iter(_best_first(running[:RUNNING])), None)
    if best is not None:
        cache.set(_NOW_KEY, best, KEPT_TTL_S)
    return best


def game_of_the_day() -> int | None:
    """Return the best game that ended during the last day, else the last one."""
    return next(iter(games_of_the_day()), None)


def games_of_the_day() -> list[int]:
    """Return the best games that ended during the last day, else the last ones.

    They are chosen once a minute, among the latest games and the best ones until then.
    A finished game has no picture while another one with its decks is open.
    """
    finished = _without_comparisons(
        games.game_keys().filter(~undecided(), status=GameStatus.FINISHED)
    )
    best: list[int] = cache.get(_DAY_KEY, [])
    if cache.add(_FRESH_KEY, 1, DAY_TTL_S) or not best:
        latest = list(finished.values_list("pk", flat=True)[:FINISHED])
        since = timezone.now() - DAY
        of_today = finished.filter(pk__in={*latest, *best}, finished_at__gte=since)
        best = (_best_first(of_today) or latest)[:KEPT_OF_THE_DAY]
        cache.set(_DAY_KEY, best, KEPT_TTL_S)
    shown = set(finished.filter(pk__in=best).values_list("pk", flat=True))
    return [number for number in best if number in shown]


def next_games(shown: int | None, count: int, *, best_first: bool = True) -> list[Game]:
    """Return the best other games that run, then those that wait for a worker.

    Without `best_first` the newest ones, because the best ones follow from ratings.
    """
    running = _without_comparisons(games.watchable_games())[:RUNNING]
    keys = _best_first(running) if best_first else [game.pk for game in running]
    others = [number for number in keys if number != shown]
    waiting = games.game_keys().filter(status=GameStatus.SCHEDULED)
    in_order = _without_comparisons(waiting).order_by("-priority", "id")
    shown_keys = [*others[:count], *in_order.values_list("pk", flat=True)[:count]]
    found = games.games().in_bulk(shown_keys[:count])
    return [found[number] for number in shown_keys if number in found]


def _without_comparisons(rows: QuerySet[Game]) -> QuerySet[Game]:
    """Leave out games of comparisons, whose bots are versions of one bot."""
    return rows.exclude(match__kind=Match.Kind.COMPARISON)


def _best_first(rows: QuerySet[Game]) -> list[int]:
    """Return the numbers of games, the best first; equal ones keep their order.

    It reads no models, because those of 200 games with their seats take 90 ms.
    """
    kinds = dict(rows.prefetch_related(None).values_list("pk", "match__kind"))
    seats: dict[int, list[tuple[int, int | None]]] = {number: [] for number in kinds}
    sitting = Seat.objects.filter(game__in=kinds)
    for number, bot, score in sitting.values_list("game", "bot", "score"):
        seats[number].append((bot, score))
    bots = {bot for row in seats.values() for bot, _ in row}
    present = Rating.objects.filter(bot__in=bots).exclude(
        season__status=Season.Status.ARCHIVED
    )
    ratings = dict(present.order_by().values_list("bot").annotate(Max("rating")))
    interest = {
        number: _interest(
            kinds[number],
            [ratings.get(bot, 0.0) for bot, _ in row],
            sorted(score for _, score in row if score is not None),
        )
        for number, row in seats.items()
    }
    return sorted(interest, key=lambda number: interest[number], reverse=True)


def _interest(kind: str, ratings: Sequence[float], scores: Sequence[int]) -> float:
    """Return how good a game is to watch, in points of a rating.

    `scores` are in ascending order, and empty before the end.
    """
    interest = fmean(ratings) - SPREAD_WEIGHT * (max(ratings) - min(ratings))
    if kind == Match.Kind.TOURNAMENT:
        interest += TOURNAMENT_BONUS
    if len(scores) > 1:
        interest -= MARGIN_WEIGHT * (scores[-1] - scores[-2])
    return interest
