"""Builders of matches for a season, and of their results."""

from random import Random

from ladder.games import attempts
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Season
from tests.games import factories


def make_matches(season: Season, wanted: int, rng: Random | None = None) -> int:
    """Make up to `wanted` matches, as the dispatcher would."""
    return MatchmakingSession(rng).pair(season, wanted)


def finish(game: Game, ranks: list[int]) -> None:
    """Let a worker finish a game with these ranks by seat."""
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(k, 50 - rank, rank) for k, rank in enumerate(ranks)]
    assert attempts.finish(claim, FinishedGame("completed", "1", b"replay", seats))
