"""How many slots of workers the service needs, however many games are open.

The dispatcher keeps a few open games for each slot, so open games and their age follow
the number of workers and not the demand. The demand is what tournaments still have to
play, and the games that each bot of a ladder should get.
"""

from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache

from ladder.games import selectors as games
from ladder.ratings import selectors as ratings
from ladder.tournaments import selectors as fixtures

TOURNAMENT_TARGET_S = 15 * 60
"""The games that tournaments can play now should be over after this time."""
DAY_S = 24 * 3600
USUAL_GAME = games.UsualGame(slot_s=60.0, seats=3.0)
"""Assumed until games have finished."""
LADDER_BOTS_TTL_S = 60  # counting takes time with many bots, and few join in a minute


class Demand(NamedTuple):
    """Games of tournaments, bots on ladders, the games that each gets, and a game."""

    tournament_games: int
    ladder_bots: int
    games_per_bot_and_day: float
    game: games.UsualGame


def present() -> Demand:
    bots = cache.get_or_set("ladder-bots", ratings.paired_bots, LADDER_BOTS_TTL_S)
    return Demand(
        tournament_games=fixtures.games_to_play(),
        ladder_bots=bots or 0,
        games_per_bot_and_day=settings.TORRES_GAMES_PER_BOT_AND_DAY,
        game=games.usual_game() or USUAL_GAME,
    )


def slots_wanted(demand: Demand) -> float:
    """Return the slots with which tournaments and ladders get their games in time.

    While ladders have bots they keep their share of all slots.
    """
    game_s, seats = demand.game
    games_a_day = demand.ladder_bots * demand.games_per_bot_and_day / seats
    ladders = games_a_day * game_s / DAY_S
    tournaments = demand.tournament_games * game_s / TOURNAMENT_TARGET_S
    kept = settings.TORRES_LADDER_SHARE if demand.ladder_bots else 0.0
    return max(ladders + tournaments, tournaments / (1 - kept))
