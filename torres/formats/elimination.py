"""Single and double elimination: the bracket as a fold of the results so far.

Seeding follows the usual order (1-8, 4-5, 2-7, 3-6), so that the best two seeds can
meet only in the final. If the number of entrants is not a power of two, the best seeds
have no opponent in the first round.

In a double elimination the losers of the main bracket drop into the losers' bracket,
in an order that keeps rematches late. The winner of the losers' bracket must beat the
winner of the main bracket twice; the second contest is the *reset*.

A contest is a best of several matches. It ends as soon as the lead is larger than the
number of matches left, or if one of the two leaves. If the matches are level at the
end, the higher sum of scores decides, then the better seed, so that every contest has
a winner.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from torres.formats.config import Config, Format
from torres.formats.values import (
    FINAL,
    LOSERS,
    MAIN,
    FixtureKey,
    FixtureRecord,
    ResultKind,
    SeededEntrant,
    SettledFixtures,
)


class EmptySlot(Enum):
    """The content of a bracket slot that holds no entrant."""

    UNKNOWN = "unknown"
    """An earlier contest will decide who gets this slot."""
    NOBODY = "nobody"
    """No entrant will ever get this slot."""


Slot = int | EmptySlot
"""An entrant's key, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Two slots of the bracket, and the winner and loser as far as they are known.

    ``key`` has leg 0. ``wins`` are the points of both slots from the matches so far.
    ``why`` says in words what decided the contest.
    """

    key: FixtureKey
    slots: tuple[Slot, Slot]
    winner: Slot = EmptySlot.UNKNOWN
    loser: Slot = EmptySlot.UNKNOWN
    wins: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    why: str = ""


@dataclass(slots=True)
class Bracket:
    """All contests by key, and the matches that can be scheduled now."""

    contests: dict[FixtureKey, Contest] = field(default_factory=dict)
    next_fixtures: list[FixtureRecord] = field(default_factory=list)
    champion: Slot = EmptySlot.UNKNOWN

    @property
    def over(self) -> bool:
        return self.champion is not EmptySlot.UNKNOWN


def seed_order(size: int) -> list[int]:
    """Return the seeds of a full bracket from top to bottom; ``size`` is 2^k."""
    seeds = [1]
    while len(seeds) < size:
        total = 2 * len(seeds) + 1
        seeds = [s for seed in seeds for s in (seed, total - seed)]
    return seeds


def fold_bracket(
    config: Config,
    form: Format,
    entrants: Sequence[SeededEntrant],
    fixtures: SettledFixtures,
    after: int = 0,
) -> Bracket:
    """Return the bracket of ``entrants`` after the results in ``fixtures``.

    ``form`` is one of the two eliminations. The first round of the bracket is round
    ``after`` + 1 of the tournament.
    """
    return _BracketBuilder(config, entrants, fixtures, after).build(form)


class _BracketBuilder:
    """Walks through the bracket once, from the first round to the final.

    Each contest takes its slots from the winners and losers of earlier contests. The
    walk goes on beyond contests that are not decided; their winners are UNKNOWN.
    """

    def __init__(
        self,
        config: Config,
        entrants: Sequence[SeededEntrant],
        fixtures: SettledFixtures,
        after: int,
    ) -> None:
        self.config = config
        self.fixtures = fixtures
        self.after = after
        ranked = sorted(entrants, key=lambda e: e.seed)
        self.size = 1 << max(1, (len(ranked) - 1).bit_length())
        self.seed_rank = {entrant.key: k for k, entrant in enumerate(ranked)}
        self.first_slots: list[Slot] = [
            ranked[seed - 1].key if seed <= len(ranked) else EmptySlot.NOBODY
            for seed in seed_order(self.size)
        ]
        self.final_round = 0  # of a single elimination; its final is in pool MAIN
        self.bracket = Bracket()

    def build(self, form: Format) -> Bracket:
        if form == Format.SINGLE_ELIMINATION:
            self.final_round = self.after + self.size.bit_length() - 1
            self.bracket.champion = self._single()
        else:
            self.bracket.champion = self._double()
        return self.bracket

    def _single(self) -> Slot:
        slots = self.first_slots
        step = 0
        while len(slots) > 1:
            step += 1
            slots = [contest.winner for contest in self._round(step, MAIN, slots)]
        return slots[0]

    def _double(self) -> Slot:
        """Build both brackets and return the champion.

        1. The first round fills both brackets: its winners stay in the main bracket,
           its losers are the first slots of the losers' bracket.
        2. Both brackets play a round and halve themselves, in the same round of the
           tournament.
        3. The losers of that main round drop: each meets a winner of that round of the
           losers' bracket, one round later. Both brackets have the same size again.
        4. Repeat 2 and 3 until one slot is left in each bracket. These two meet in the
           grand final.
        """
        contests = self._round(1, MAIN, self.first_slots)
        upper = [contest.winner for contest in contests]
        lower = [contest.loser for contest in contests]
        step = 1
        drop = 0
        while len(upper) > 1:
            contests = self._round(step + 1, MAIN, upper)
            upper = [contest.winner for contest in contests]
            lower = [contest.winner for contest in self._round(step + 1, LOSERS, lower)]
            dropping = _cross_over([contest.loser for contest in contests], drop)
            mixed = [s for pair in zip(lower, dropping, strict=True) for s in pair]
            lower = [contest.winner for contest in self._round(step + 2, LOSERS, mixed)]
            step += 2
            drop += 1
        return self._grand_final(upper[0], lower[0], step + 1)

    def _grand_final(self, upper: Slot, lower: Slot, step: int) -> Slot:
        final = self._contest(FixtureKey(self.after + step, FINAL, 0), upper, lower)
        needs_reset = final.winner == lower and lower is not EmptySlot.UNKNOWN
        if not self.config.reset or not needs_reset:
            return final.winner
        reset_key = FixtureKey(self.after + step + 1, FINAL, 0)
        return self._contest(reset_key, upper, lower).winner

    def _round(self, step: int, pool: int, slots: Sequence[Slot]) -> list[Contest]:
        return [
            self._contest(
                FixtureKey(self.after + step, pool, k // 2), *slots[k : k + 2]
            )
            for k in range(0, len(slots), 2)
        ]

    def _contest(self, key: FixtureKey, one: Slot, two: Slot) -> Contest:
        if isinstance(one, EmptySlot) or isinstance(two, EmptySlot):
            contest = _contest_without_match(key, one, two)
        else:
            contest = self._contest_of_matches(key, one, two)
        self.bracket.contests[key] = contest
        return contest

    def _contest_of_matches(self, key: FixtureKey, one: int, two: int) -> Contest:
        """Fold the matches of a contest, and schedule the next one if it is open."""
        pair = (one, two)
        wins = [Fraction(0)] * 2
        scores = [0, 0]
        best_of = self._best_of(key)
        for leg in range(best_of):
            fixture = self.fixtures.get(key._replace(leg=leg))
            if fixture is None or fixture.result is None:
                self._schedule(key._replace(leg=leg), pair)
                return Contest(key, pair, wins=(wins[0], wins[1]))
            points = [
                fixture.result.points[fixture.entrants.index(one)] for one in pair
            ]
            if fixture.result.how == ResultKind.WALKOVER:
                return self._decided(key, pair, points, [0, 0], "walkover")
            for side, entrant in enumerate(pair):
                wins[side] += points[side]
                position = fixture.entrants.index(entrant)
                scores[side] += fixture.result.scores[position]
            matches_left = best_of - leg - 1
            if abs(wins[0] - wins[1]) > matches_left:
                break
        return self._decided(key, pair, wins, scores, "matches won")

    def _decided(
        self,
        key: FixtureKey,
        pair: tuple[int, int],
        wins: Sequence[Fraction],
        scores: Sequence[int],
        why: str,
    ) -> Contest:
        if wins[0] != wins[1]:
            ahead = 0 if wins[0] > wins[1] else 1
        elif scores[0] != scores[1]:
            ahead = 0 if scores[0] > scores[1] else 1
            why = "sum of scores (level on matches)"
        else:
            ahead = 0 if self.seed_rank[pair[0]] < self.seed_rank[pair[1]] else 1
            why = "seed (level on matches and scores)"
        both = (wins[0], wins[1])
        return Contest(key, pair, pair[ahead], pair[1 - ahead], both, why)

    def _schedule(self, key: FixtureKey, pair: tuple[int, int]) -> None:
        """Schedule a match; the seats of the first game alternate from leg to leg."""
        if key not in self.fixtures:
            seats = pair if key.leg % 2 == 0 else pair[::-1]
            self.bracket.next_fixtures.append(FixtureRecord(key, seats))

    def _best_of(self, key: FixtureKey) -> int:
        is_final = key.pool == FINAL or (
            key.pool == MAIN and key.round == self.final_round
        )
        return self.config.best_of_final if is_final else self.config.best_of


def _contest_without_match(key: FixtureKey, one: Slot, two: Slot) -> Contest:
    """Return a contest in which at least one slot is empty, now or for good."""
    if EmptySlot.UNKNOWN in (one, two):
        return Contest(key, (one, two))
    winner = two if one is EmptySlot.NOBODY else one
    return Contest(key, (one, two), winner, EmptySlot.NOBODY, why="no opponent")


def _cross_over(slots: list[Slot], drop: int) -> list[Slot]:
    """Reorder the losers that drop for the ``drop``-th time, so rematches come late.

    Reversing the list and swapping its halves take turns.
    """
    if drop % 2 == 0:
        return slots[::-1]
    half = len(slots) // 2
    return slots[half:] + slots[:half]
