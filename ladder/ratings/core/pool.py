"""The bots of a ladder as the matchmaker keeps them: sorted by skill and by turn.

Numbers only, no database. Every change costs a binary search and the moving of a list's
tail: microseconds for ten thousand bots, so that nothing is ever sorted as a whole.
"""

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from statistics import median

RECALL = 24
"""So many opponents back a bot's pair debts look."""
SLACK = 10.0
"""A bot that comes late is owed so many turns, and not all that it missed."""


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A bot that may play. `owner` is a person, or something unique for a house bot.

    `games` counts its folded games of this season, `fresh` those of its present upload,
    and `streak` its forfeits in a row.
    """

    bot: int
    name: str
    submission: int
    owner: Hashable
    mu: float
    sigma: float
    games: int = 0
    fresh: int = 0
    streak: int = 0


@dataclass(slots=True)
class Candidate:
    """A candidate and what the matchmaker remembers of it.

    `clock` counts the turns it had, in games' worth: who has the lowest is next.
    """

    candidate: PoolEntry
    clock: float
    lot: float
    open: int = 0
    met: deque[int] = field(default_factory=lambda: deque(maxlen=RECALL))
    sat: Counter[tuple[int, int]] = field(default_factory=Counter)

    @property
    def bot(self) -> int:
        return self.candidate.bot

    @property
    def by_skill(self) -> tuple[float, float, int]:
        return self.candidate.mu, self.lot, self.bot

    @property
    def by_turn(self) -> tuple[float, float, int]:
        return self.clock, self.lot, self.bot


class CandidatePool:
    """All candidates. Equals are ordered by lot, drawn from `rng`."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._players: dict[int, Candidate] = {}
        self._skills: list[tuple[float, float, int]] = []
        self._turns: list[tuple[float, float, int]] = []
        self.owners: Counter[Hashable] = Counter()

    def __len__(self) -> int:
        return len(self._players)

    def __getitem__(self, bot: int) -> Candidate:
        return self._players[bot]

    def get(self, bot: int) -> Candidate | None:
        return self._players.get(bot)

    def bots(self) -> set[int]:
        return set(self._players)

    def start(self, candidates: Iterable[PoolEntry]) -> None:
        """Put many at once, where the memory of earlier turns is lost."""
        known = list(candidates)
        usual = median(c.games for c in known) if known else 0
        for candidate in known:
            self._enter(candidate, max(float(candidate.games), usual - SLACK))

    def put(self, candidate: PoolEntry) -> None:
        """Add a bot, or tell what is believed of it now."""
        player = self._players.get(candidate.bot)
        if player is None:
            front = self._turns[len(self) // 2][0] if self._turns else 0.0
            self._enter(candidate, max(float(candidate.games), front - SLACK))
            return
        self._out(player)
        player.candidate = candidate
        player.lot = self._rng.random()
        self._in(player)

    def drop(self, bot: int) -> None:
        if player := self._players.pop(bot, None):
            self._out(player)

    def spend(self, player: Candidate, turns: float) -> None:
        """Move a bot back in the line by so many turns."""
        del self._turns[bisect_left(self._turns, player.by_turn)]
        player.clock += turns
        insort(self._turns, player.by_turn)

    def in_turn(self) -> Iterator[Candidate]:
        """Go through the bots, the one whose turn it is first."""
        return (self._players[bot] for _, _, bot in self._turns)

    def near(
        self, player: Candidate, reach: int, may_sit: Callable[[Candidate], bool]
    ) -> list[Candidate]:
        """List up to `reach` others nearest in mean skill among those that may sit."""
        skills, mu = self._skills, player.candidate.mu
        here = bisect_left(skills, player.by_skill)
        below, above = here - 1, here + 1
        found: list[Candidate] = []
        while len(found) < reach and (below >= 0 or above < len(skills)):
            up = skills[above][0] - mu if above < len(skills) else float("inf")
            down = mu - skills[below][0] if below >= 0 else float("inf")
            if up < down:
                other, above = self._players[skills[above][2]], above + 1
            else:
                other, below = self._players[skills[below][2]], below - 1
            if may_sit(other):
                found.append(other)
        return found

    def _enter(self, candidate: PoolEntry, clock: float) -> None:
        player = Candidate(candidate, clock, self._rng.random())
        self._players[candidate.bot] = player
        self._in(player)

    def _in(self, player: Candidate) -> None:
        self.owners[player.candidate.owner] += 1
        insort(self._skills, player.by_skill)
        insort(self._turns, player.by_turn)

    def _out(self, player: Candidate) -> None:
        owner = player.candidate.owner
        self.owners[owner] -= 1
        if not self.owners[owner]:
            del self.owners[owner]
        del self._skills[bisect_left(self._skills, player.by_skill)]
        del self._turns[bisect_left(self._turns, player.by_turn)]
