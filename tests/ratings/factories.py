"""Builders of matches for a season."""

from random import Random

from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Season


def make_matches(season: Season, wanted: int, rng: Random | None = None) -> int:
    """Make up to `wanted` matches, as the dispatcher would."""
    return MatchmakingSession(rng).pair(season, wanted)
