"""Who meets next, and why: the choice itself. No database, no clock.

The bot whose turn it is sits down first. The others come from those nearest to it in
skill, one by one, each time the one whose result is expected to tell most about all at
the table, for each turn that it was given ahead of the others. A match says in numbers
and in words why it was made.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from random import Random
from typing import Any

from ladder.ratings.core.pool import Candidate, CandidatePool, PoolEntry
from ladder.ratings.core.trueskill import Parameters, Skill, chance, information

NEAR = 24
"""So many neighbours in skill are weighed; more only if they may not sit together."""
TRIES = 8
"""So many bots in turn are tried as the first of a table."""
SURPLUS = 0.05
"""Each turn ahead of the first bot divides what a game with it is worth by 1 + this."""
AGAIN = 0.25
"""And so does each meeting among its last `field.RECALL` opponents."""
LANE, LANE_COST = 20, 0.25
"""The first games of an upload cost it a fraction of a turn, so they come sooner."""
FORFEITS_IN_A_ROW = 3
"""From so many on a bot plays one game at a time and waits longer for each, so that a
crashing one can't eat the queue."""


@dataclass(frozen=True, slots=True)
class Seating:
    """A match to be made: bots by seat, and the reasons, ready for JSON."""

    seats: tuple[PoolEntry, ...]
    why: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PairingTerms:
    """What a ladder asks for. `shares`: of the tables with so many seats."""

    shares: Mapping[str, float]
    parameters: Parameters = field(default_factory=Parameters)
    duplicate: bool = False


def seats_for(shares: Mapping[str, float], made: Mapping[int, int]) -> list[int]:
    """Return numbers of seats, the one furthest behind its share first."""
    total = sum(made.values()) + 1
    whole = sum(shares.values())
    lag = {
        int(seats): total * share / whole - made.get(int(seats), 0)
        for seats, share in shares.items()
        if share > 0
    }
    return sorted(lag, key=lambda seats: (-lag[seats], seats))


class Matchmaker:
    """Makes one table after another over a field that others keep up to date."""

    def __init__(self, terms: PairingTerms, rng: Random) -> None:
        self.terms = terms
        self.field = CandidatePool(rng)
        self._rng = rng
        self._made: Counter[int] = Counter()

    def next_table(self) -> Seating | None:
        """Make a table and remember it; None if too few bots may sit together."""
        for seats in seats_for(self.terms.shares, self._made):
            if table := self._table(seats):
                return table
        return None

    def put(self, candidate: PoolEntry) -> None:
        """Add a bot, or tell what is believed of it now."""
        self.field.put(candidate)

    def over(self, bot: int, games: int = 1) -> None:
        """Note that a bot has less to play than it had."""
        if player := self.field.get(bot):
            player.open = max(0, player.open - games)

    def recall(self, bots: Sequence[int]) -> None:
        """Remember a table that was made, bots by seat; no turns are spent."""
        self._made[len(bots)] += 1
        players = [player for bot in bots if (player := self.field.get(bot))]
        for number, bot in enumerate(bots):
            if player := self.field.get(bot):
                player.sat[len(bots), number] += 1
                player.met.extend(o.bot for o in players if o is not player)

    def _table(self, seats: int) -> Seating | None:
        if len(self.field.owners) < seats:
            return None
        tries = 0
        for first in self.field.in_turn():
            if _resting(first):
                continue
            if (sitting := self._company(first, seats)) or (tries := tries + 1) > TRIES:
                break
        else:
            return None
        return self._made_of(first, sitting) if sitting else None

    def _company(self, first: Candidate, seats: int) -> list[Candidate]:
        """Return a full table around the first bot; nobody if there is none."""
        for reach in (NEAR, 8 * NEAR, len(self.field)):
            pool = self.field.near(first, reach, lambda other: _may_meet(first, other))
            sitting, told = [first], dict.fromkeys((p.bot for p in pool), 0.0)
            while pool and len(sitting) < seats:
                last = sitting[-1]
                for other in pool:
                    told[other.bot] += self._worth(last, other)
                best = max(
                    pool, key=lambda other: told[other.bot] / _surplus(first, other)
                )
                sitting.append(best)
                pool = [other for other in pool if _may_meet(best, other)]
            if len(sitting) == seats:
                return sitting
        return []

    def _worth(self, one: Candidate, other: Candidate) -> float:
        a, b = one.candidate, other.candidate
        beta = self.terms.parameters.beta
        told = information(a.mu - b.mu, a.sigma**2, b.sigma**2, beta)
        return told / (1 + AGAIN * one.met.count(other.bot))

    def _made_of(self, first: Candidate, sitting: list[Candidate]) -> Seating:
        why = _why(first, sitting, self.terms.parameters)
        order = self._by_seat(sitting)
        games = len(order) if self.terms.duplicate else 1
        self.recall([player.bot for player in order])
        for player in order:
            player.open += games
            self.field.spend(player, games * _cost(player.candidate))
        return Seating(tuple(player.candidate for player in order), why)

    def _by_seat(self, sitting: list[Candidate]) -> tuple[Candidate, ...]:
        """Give each bot the seat where it sat least: a Latin square in the long run."""
        size = len(sitting)
        self._rng.shuffle(sitting)
        return min(
            permutations(sitting),
            key=lambda order: sum(p.sat[size, k] ** 2 for k, p in enumerate(order)),
        )


def _may_meet(one: Candidate, other: Candidate) -> bool:
    return one.candidate.owner != other.candidate.owner and not _resting(other)


def _resting(player: Candidate) -> bool:
    return player.open > 0 and player.candidate.streak >= FORFEITS_IN_A_ROW


def _surplus(first: Candidate, other: Candidate) -> float:
    return 1 + SURPLUS * max(0.0, other.clock - first.clock)


def _cost(candidate: PoolEntry) -> float:
    """Return how many turns one game costs a bot."""
    if candidate.streak >= FORFEITS_IN_A_ROW:
        return 1.0 + candidate.streak
    return LANE_COST if candidate.fresh < LANE else 1.0


def _why(
    first: Candidate, sitting: list[Candidate], parameters: Parameters
) -> dict[str, Any]:
    """Say it in numbers: skills in points, information in nats, chances against it."""
    head = first.candidate
    mine = Skill(head.mu, head.sigma)
    others = []
    for player in sitting[1:]:
        other = player.candidate
        theirs = Skill(other.mu, other.sigma)
        told = information(
            head.mu - other.mu, head.sigma**2, other.sigma**2, parameters.beta
        )
        others.append(
            {
                "bot": other.bot,
                "apart": round(abs(other.mu - head.mu), 3),
                "chance": round(chance(mine, theirs, parameters), 3),
                "information": round(told, 4),
                "met": first.met.count(other.bot),
                "surplus": round(max(0.0, player.clock - first.clock), 2),
            }
        )
    return {
        "rule": "turn, then information",
        "first": {
            "bot": head.bot,
            "turn": round(first.clock, 2),
            "games": head.games,
            "mu": round(head.mu, 3),
            "sigma": round(head.sigma, 3),
        },
        "others": others,
        "reasons": _words(head, sitting[1:], others),
    }


def _words(
    head: PoolEntry, players: list[Candidate], others: list[dict[str, Any]]
) -> list[str]:
    lane = f", {head.fresh} with this upload" if head.fresh < LANE else ""
    words = [f"It was the turn of {head.name} ({head.games} games{lane})"]
    words += [
        f"{player.candidate.name} is {other['apart']:.1f} points apart and loses to "
        f"{head.name} with {other['chance']:.0%}: {other['information']:.3f} nats are "
        f"learnt, {met(other['met'])}"
        for player, other in zip(players, others, strict=True)
    ]
    return words


def met(times: int) -> str:
    if times <= 1:
        return "met once lately" if times else "not met lately"
    return f"met {times} times lately"
