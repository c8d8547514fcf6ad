"""A made-up season: which bots meet, in which order, and who is ahead.

Numbers only, no database. Every bot has a hidden skill. Opponents are chosen like a
matchmaker chooses them: near in skill. So the ratings that follow from the games look
like those of a real ladder, and the same seed gives the same season.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

TABLE_SIZES = (2, 3, 4)
TABLE_WEIGHTS = (0.4, 0.2, 0.4)
SKILL_MEAN = 25.0
SKILL_SD = 6.0
GAME_SD = 25.0 / 6
"""The standard deviation of a bot's performance in one game: TrueSkill's β."""
NEIGHBOURS = 30
"""An opponent is at most this many ranks of hidden skill away."""
DEAD_EVERY = 1000
CANCELLED_EVERY = 500
"""One game in each 1000 is dead, and one in each 500 is cancelled."""
NEW_VERSION_SHARE = 0.1
"""This share of the bots continues with another upload in the course of the season."""


class PlannedGame(NamedTuple):
    """A game of the season. `order` holds indices of bots, the winner first.

    `status` is finished, dead or cancelled.
    """

    order: tuple[int, ...]
    status: str


@dataclass(frozen=True, slots=True)
class WorldSize:
    """The size of a season. One bot, the busiest, takes part in `busiest` games."""

    bots: int
    games: int
    busiest: int


class World:
    """Draws the games of a season, one after the other."""

    def __init__(self, size: WorldSize, rng: Random) -> None:
        self._size = size
        self._rng = rng
        self._skills = sorted(rng.gauss(SKILL_MEAN, SKILL_SD) for _ in range(size.bots))
        self._busiest_share = min(1.0, size.busiest / max(1, size.games))
        # The ranks of hidden skill are dealt at random, so that an id says nothing.
        self._bot_at = list(range(size.bots))
        rng.shuffle(self._bot_at)

    @property
    def busiest(self) -> int:
        """Return the index of the bot with the most games."""
        return self._bot_at[self._size.bots // 2]

    def games(self) -> Iterator[PlannedGame]:
        """Yield the games of the season, the oldest first."""
        for number in range(1, self._size.games + 1):
            yield PlannedGame(self._order(self._positions()), _status(number))

    def _positions(self) -> list[int]:
        """Choose who plays, as positions in the order of hidden skill."""
        rng = self._rng
        bots = self._size.bots
        wanted = min(bots, rng.choices(TABLE_SIZES, TABLE_WEIGHTS)[0])
        middle = bots // 2
        # The busiest bot meets everybody. The others meet bots of their own strength.
        if rng.random() < self._busiest_share:
            others = rng.sample(range(bots - 1), wanted - 1)
            return [middle, *(other + (other >= middle) for other in others)]
        low = min(rng.randrange(bots), bots - 1 - NEIGHBOURS)
        low = max(0, low)
        return rng.sample(range(low, min(bots, low + NEIGHBOURS)), wanted)

    def _order(self, positions: Sequence[int]) -> tuple[int, ...]:
        gauss = self._rng.gauss
        skills = self._skills
        performances = [(gauss(skills[p], GAME_SD), p) for p in positions]
        performances.sort(reverse=True)
        return tuple(self._bot_at[position] for _, position in performances)


def _status(number: int) -> str:
    if number % DEAD_EVERY == DEAD_EVERY // 2:
        return "dead"
    return "cancelled" if number % CANCELLED_EVERY == 1 else "finished"
