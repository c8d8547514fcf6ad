"""A ladder without games: synthetic bots of known skill, for tuning and for proof.

Matchmaker, fold and rating are the real ones; only the results are drawn instead of
played. Everything follows from the seed. No database.
"""

from bisect import bisect, insort
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from random import Random
from statistics import mean
from typing import Protocol

from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import BotState, LedgerLine, LedgerState
from ladder.ratings.core.pairing import Matchmaker, PairingTerms, Seating
from ladder.ratings.core.pool import PoolEntry

OPEN_AT_ONCE = 12
"""Matches that are made before the first of them is folded: 3 for each of 4 slots."""


class MakesPairs(Protocol):
    """What a policy has to do; `Matchmaker` is the one that ladders use."""

    def next_table(self) -> Seating | None: ...
    def put(self, candidate: PoolEntry) -> None: ...
    def over(self, bot: int, games: int = 1) -> None: ...


class RandomPairing:
    """The yardstick: all tables are equally likely."""

    def __init__(self, terms: PairingTerms, rng: Random) -> None:
        self._sizes = [int(seats) for seats in terms.shares]
        self._weights = list(terms.shares.values())
        self._rng = rng
        self._bots: dict[int, PoolEntry] = {}

    def put(self, candidate: PoolEntry) -> None:
        self._bots[candidate.bot] = candidate

    def over(self, bot: int, games: int = 1) -> None: ...

    def next_table(self) -> Seating | None:
        seats = self._rng.choices(self._sizes, self._weights)[0]
        sitting = self._rng.sample(list(self._bots), seats)
        return Seating(tuple(self._bots[bot] for bot in sitting), {"rule": "at random"})


Policy = Callable[[PairingTerms, Random], MakesPairs]


def ours(terms: PairingTerms, rng: Random) -> MakesPairs:
    return Matchmaker(terms, rng)


POLICIES: dict[str, Policy] = {"ours": ours, "random": RandomPairing}


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """What is to be simulated; `shares` as a ladder has them."""

    terms: PairingTerms
    bots: int = 500
    seed: int = 1
    policy: str = "ours"
    open_at_once: int = OPEN_AT_ONCE


class SimulatedLadder:
    """One simulated ladder: bots join, meet by policy, and are folded."""

    def __init__(self, plan: SimulationPlan) -> None:
        self.plan = plan
        chance = dice(plan.seed, "skills")
        parameters = plan.terms.parameters
        self._luck = dice(plan.seed, "luck")
        self._pairs = POLICIES[plan.policy](plan.terms, dice(plan.seed, "pairs"))
        self._seq = count(1)
        self.skills: dict[int, float] = {}
        self.state = LedgerState(parameters)
        for bot in range(1, plan.bots + 1):
            self.join(bot, chance.gauss(parameters.mu, parameters.sigma))

    def join(self, bot: int, skill: float) -> None:
        inputs = {"bot": bot, "submission": bot, "digest": f"{bot}"}
        self._fold("join", inputs, [bot])
        self.skills[bot] = skill

    def renew(self, bot: int, *, better: float, digest: str) -> None:
        """Let a bot go on with another upload that is so many points better."""
        inputs = {"bot": bot, "submission": bot, "digest": digest}
        self._fold("new_version", inputs, [bot])
        self.skills[bot] += better

    def play(self) -> int:
        """Make, decide and fold as many games as are open at once; count the seats."""
        tables = [self._pairs.next_table() for _ in range(self.plan.open_at_once)]
        return sum(self._decide(table) for table in tables if table)

    def board(self) -> list[int]:
        """Return the bots by the number that is shown, best first."""
        shown = {bot: s.skill.shown for bot, s in self.state.bots.items()}
        return sorted(shown, key=lambda bot: (-shown[bot], bot))

    def _decide(self, table: Seating) -> int:
        bots = [candidate.bot for candidate in table.seats]
        beta = self.plan.terms.parameters.beta
        places = ranks([self.skills[bot] for bot in bots], beta, self._luck)
        seats = [
            {"bot": bot, "submission": bot, "rank": rank, "fault": ""}
            for bot, rank in zip(bots, places, strict=True)
        ]
        for bot in bots:
            self._pairs.over(bot)
        self._fold("game", {"seats": seats}, bots)
        return len(bots)

    def _fold(self, kind: str, inputs: dict[str, object], moved: Sequence[int]) -> None:
        ledger.step(self.state, LedgerLine(next(self._seq), kind, inputs))
        for bot in sorted(moved):
            self._pairs.put(candidate(bot, self.state.bots[bot]))


def ranks(skills: Sequence[float], beta: float, luck: Random) -> list[int]:
    """Draw the ranks of one game by seat, from the model that TrueSkill has of it."""
    marks = [luck.gauss(skill, beta) for skill in skills]
    order = sorted(range(len(marks)), key=lambda seat: -marks[seat])
    return [order.index(seat) + 1 for seat in range(len(marks))]


def dice(seed: int, what: str) -> Random:
    return Random(f"{seed}/{what}")  # noqa: S311 -- a simulation has no secrets


def candidate(bot: int, standing: BotState) -> PoolEntry:
    """Show a bot of the state to a matchmaker; each has an owner of its own."""
    return PoolEntry(
        bot=bot,
        name=f"bot-{bot}",
        submission=standing.submission,
        owner=bot,
        mu=standing.skill.mu,
        sigma=standing.skill.sigma,
        games=standing.games,
        fresh=standing.fresh,
        streak=standing.streak,
    )


@dataclass(frozen=True, slots=True)
class SimulationPoint:
    """How well a ladder knew its bots after so many games for each."""

    games: int
    shown: float
    mean: float
    fewest: int
    most: int


def converge(plan: SimulationPlan, games: int) -> Iterator[SimulationPoint]:
    """Play on and look after each game per bot, up to `games` of them."""
    simulated, seats = SimulatedLadder(plan), 0
    for wanted in range(1, games + 1):
        while seats < wanted * plan.bots:
            seats += simulated.play()
        yield _look(simulated, wanted)


def average(looks: Sequence[SimulationPoint]) -> SimulationPoint:
    """Return the mean of the τ of several runs, and the extremes of their games."""
    return SimulationPoint(
        looks[0].games,
        mean(look.shown for look in looks),
        mean(look.mean for look in looks),
        min(look.fewest for look in looks),
        max(look.most for look in looks),
    )


def _look(simulated: SimulatedLadder, games: int) -> SimulationPoint:
    bots = simulated.state.bots
    true = [simulated.skills[bot] for bot in bots]
    played = [standing.games for standing in bots.values()]
    return SimulationPoint(
        games,
        kendall(true, [standing.skill.shown for standing in bots.values()]),
        kendall(true, [standing.skill.mu for standing in bots.values()]),
        min(played),
        max(played),
    )


def kendall(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Kendall's τ of two scales without ties: 1 if they order all alike."""
    ranked = [b for _, b in sorted(zip(one, other, strict=True))]
    seen: list[float] = []
    agreeing = 0
    for value in ranked:
        agreeing += bisect(seen, value)
        insort(seen, value)
    pairs = len(ranked) * (len(ranked) - 1) / 2
    return 2 * agreeing / pairs - 1


def settled(plan: SimulationPlan, games: int) -> SimulatedLadder:
    """Return a ladder on which so many games per bot were played."""
    ladder, seats = SimulatedLadder(plan), 0
    while seats < games * plan.bots:
        seats += ladder.play()
    return ladder


def fall(ladder: SimulatedLadder, place: int, better: float, after: int) -> int:
    """Return how many places a bot falls at worst on its way with a new version.

    It stands at `place` (0 is the best) when it is uploaded, and is watched for `after`
    games of its own, on a copy of the ladder.
    """
    copy = deepcopy(ladder)
    bot = copy.board()[place]
    copy.renew(bot, better=better, digest="another")
    worst = copy.board().index(bot)
    while copy.state.bots[bot].fresh < after:
        copy.play()
        worst = max(worst, copy.board().index(bot))
    return worst - place
