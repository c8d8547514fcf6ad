"""Simulate a ladder without games, with synthetic bots of known skill.

The matchmaker, the fold and the ratings are the real ones; only the results are drawn
instead of played. So a change of the matchmaker's constants can be tested against the
truth. Everything follows from the seed. No database.
"""

from bisect import bisect, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from statistics import mean
from typing import Protocol

from torres.rating import ledger
from torres.rating.ledger import BotState, EntryKind, LedgerLine, LedgerState
from torres.rating.pairing import Matchmaker, PairingTerms, Seating
from torres.rating.pool import BotProfile

OPEN_MATCHES = 12
"""Matches that are made before the first of them is folded: 3 for each of 4 slots."""


class MakesPairs(Protocol):
    """The interface of a policy; `Matchmaker` is the policy of real ladders."""

    def next_seating(self) -> Seating | None: ...
    def update(self, profile: BotProfile) -> None: ...
    def game_ended(self, bot: int) -> None: ...


class RandomPairing:
    """The policy to compare with: all seatings are equally likely."""

    def __init__(self, terms: PairingTerms, rng: Random) -> None:
        self._sizes = [int(seats) for seats in terms.shares]
        self._weights = list(terms.shares.values())
        self._rng = rng
        self._bots: dict[int, BotProfile] = {}

    def update(self, profile: BotProfile) -> None:
        self._bots[profile.bot] = profile

    def game_ended(self, bot: int) -> None: ...

    def next_seating(self) -> Seating | None:
        seats = self._rng.choices(self._sizes, self._weights)[0]
        bots = self._rng.sample(list(self._bots), seats)
        return Seating(tuple(self._bots[bot] for bot in bots), {"rule": "at random"})


Policy = Callable[[PairingTerms, Random], MakesPairs]

POLICIES: dict[str, Policy] = {"ours": Matchmaker, "random": RandomPairing}


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """The settings of one simulation; `policy` is a key of `POLICIES`."""

    terms: PairingTerms
    bots: int = 500
    seed: int = 1
    policy: str = "ours"
    open_matches: int = OPEN_MATCHES


class SimulatedLadder:
    """One simulated ladder. `skills` holds the true skill of each bot."""

    def __init__(self, plan: SimulationPlan) -> None:
        self.plan = plan
        parameters = plan.terms.parameters
        self._results_rng = seeded_rng(plan.seed, "luck")
        self._policy = POLICIES[plan.policy](plan.terms, seeded_rng(plan.seed, "pairs"))
        self._seqs = count(1)
        self.skills: dict[int, float] = {}
        self.state = LedgerState(parameters)
        skills_rng = seeded_rng(plan.seed, "skills")
        for bot in range(1, plan.bots + 1):
            inputs = {"bot": bot, "submission": bot, "digest": f"{bot}"}
            self.append(EntryKind.JOIN, inputs, [bot])
            self.skills[bot] = skills_rng.gauss(parameters.mu, parameters.sigma)

    def append(
        self, kind: EntryKind, inputs: dict[str, object], bots: Sequence[int]
    ) -> None:
        """Fold one entry that changes these bots, and tell the policy."""
        ledger.step(self.state, LedgerLine(next(self._seqs), kind, inputs))
        for bot in sorted(bots):
            self._policy.update(_profile(bot, self.state.bots[bot]))

    def play(self) -> int:
        """Make a batch of matches, then decide and fold each; return their seats."""
        seatings = [self._policy.next_seating() for _ in range(self.plan.open_matches)]
        return sum(self._decide(seating) for seating in seatings if seating)

    def draw(self, bots: Sequence[int], rng: Random) -> list[int]:
        """Return the ranks of one game of these bots, by seat."""
        beta = self.plan.terms.parameters.beta
        return draw_ranks([self.skills[bot] for bot in bots], beta, rng)

    def _decide(self, seating: Seating) -> int:
        """Draw the result of one match and fold it; return the number of its seats."""
        bots = [profile.bot for profile in seating.seats]
        ranks = self.draw(bots, self._results_rng)
        seats = [
            {
                "bot": bot,
                "submission": self.state.bots[bot].submission,
                "rank": rank,
                "fault": "",
            }
            for bot, rank in zip(bots, ranks, strict=True)
        ]
        for bot in bots:
            self._policy.game_ended(bot)
        self.append(EntryKind.GAME, {"seats": seats}, bots)
        return len(bots)


def draw_ranks(skills: Sequence[float], beta: float, rng: Random) -> list[int]:
    """Return random ranks of one game by seat, drawn from TrueSkill's own model.

    Each bot performs with N(skill, β²); the best performance wins.
    """
    performances = [rng.gauss(skill, beta) for skill in skills]
    order = sorted(range(len(performances)), key=lambda seat: -performances[seat])
    return [order.index(seat) + 1 for seat in range(len(performances))]


def seeded_rng(seed: int, purpose: str) -> Random:
    """Return a generator of its own for each purpose of a simulation."""
    return Random(f"{seed}/{purpose}")


def _profile(bot: int, state: BotState) -> BotProfile:
    """Return a simulated bot as a policy sees it; each has its own owner."""
    return BotProfile(
        bot=bot,
        name=f"bot-{bot}",
        submission=state.submission,
        owner=bot,
        mu=state.skill.mu,
        sigma=state.skill.sigma,
        games=state.games,
        fresh=state.fresh,
        latest=state.latest,
    )


@dataclass(frozen=True, slots=True)
class SimulationPoint:
    """How well a ladder knows its bots after `games` games for each, on average.

    `shown` and `mean` are Kendall's τ of the true skills with the shown ratings and
    with μ. `fewest` and `most` are the games of the two extreme bots.
    """

    games: int
    shown: float
    mean: float
    fewest: int
    most: int


def converge(plan: SimulationPlan, games: int) -> Iterator[SimulationPoint]:
    """Yield a point after each game per bot, up to `games` of them."""
    simulated = SimulatedLadder(plan)
    seats = 0
    for games_per_bot in range(1, games + 1):
        while seats < games_per_bot * plan.bots:
            seats += simulated.play()
        yield _measure(simulated, games_per_bot)


def average(points: Sequence[SimulationPoint]) -> SimulationPoint:
    """Return the mean of τ over several runs, and the extremes of the games."""
    return SimulationPoint(
        points[0].games,
        mean(point.shown for point in points),
        mean(point.mean for point in points),
        min(point.fewest for point in points),
        max(point.most for point in points),
    )


def _measure(simulated: SimulatedLadder, games: int) -> SimulationPoint:
    bots = simulated.state.bots
    true_skills = [simulated.skills[bot] for bot in bots]
    played = [state.games for state in bots.values()]
    return SimulationPoint(
        games,
        kendall(true_skills, [state.skill.shown_rating for state in bots.values()]),
        kendall(true_skills, [state.skill.mu for state in bots.values()]),
        min(played),
        max(played),
    )


def kendall(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Kendall's τ of two scales without ties: 1 if both give the same order.

    Go through `other` in the order of `one`. Each earlier value that is smaller is one
    pair in agreement; a binary search in a sorted list counts them.
    """
    ranked = [b for _, b in sorted(zip(one, other, strict=True))]
    earlier: list[float] = []
    agreeing = 0
    for value in ranked:
        agreeing += bisect(earlier, value)
        insort(earlier, value)
    pairs = len(ranked) * (len(ranked) - 1) / 2
    return 2 * agreeing / pairs - 1
