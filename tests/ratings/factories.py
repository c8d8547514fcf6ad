"""Builders of matches for a season, and of their results."""

from ladder.games import attempts
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game
from ladder.ratings import rater
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Entry, Rating, Season
from tests.games import factories
from torres.rating.pairing import PROBATION_GAMES


class Killed(BaseException):
    """Ends what a process does at any point, as a signal would."""


def make_matches(season: Season, wanted: int) -> int:
    """Make up to `wanted` matches, as the dispatcher would."""
    return MatchmakingSession().pair(season, wanted)


def end_probation(season: Season) -> None:
    """Let the bots play many games at a time, as if they had played some already."""
    Rating.objects.filter(season=season).update(fresh=PROBATION_GAMES)


def finish(game: Game, ranks: list[int]) -> None:
    """Let a worker finish a game with these ranks by seat."""
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(k, 50 - rank, rank) for k, rank in enumerate(ranks)]
    assert attempts.finish(
        claim, FinishedGame("completed", "1", b"replay", seats, "{}")
    )


def finish_in_order(
    game: Game, order: list[int] | None = None, fault: str = ""
) -> None:
    """Let a worker finish a game with the seats in this order.

    The last seat forfeits if `fault` names a reason.
    """
    seats = order or list(range(game.match.seats))
    results = [
        SeatResult(seat, 50 - rank, rank, fault if rank == len(seats) else "")
        for rank, seat in enumerate(seats, start=1)
    ]
    claim = attempts.claim(game.pk, factories.worker())
    assert attempts.finish(
        claim, FinishedGame("completed", "1", b"replay", results, "{}")
    )


def open_games() -> list[Game]:
    return list(Game.objects.filter(status="scheduled").order_by("pk"))


def play_some(season: Season, rounds: int = 5) -> None:
    """Play and rate `rounds` batches of four games; the first seat wins each."""
    for _ in range(rounds):
        make_matches(season, 4)
        for game in open_games():
            finish_in_order(game)
        rater.fold(season.pk)


def play_games(season: Season, count: int) -> None:
    """Play and rate `count` games, four at a time; the first seat wins each.

    New bots play two games at a time, so a draw of large tables may leave too few bots
    for a fourth match.
    """
    left = count
    while left:
        make_matches(season, min(4, left))
        for game in open_games():
            finish_in_order(game)
            left -= 1
        rater.fold(season.pk)


def rated_games(season: Season) -> list[int]:
    """Return the games of a season that count, in the order of the ledger."""
    entries = Entry.objects.filter(season=season, kind="game", game__status="finished")
    return list(entries.order_by("seq").values_list("game", flat=True))
