"""Single and double elimination: the bracket as a fold of the contests so far.

Seeds stand in the usual order (1-8, 4-5, 2-7, 3-6), so that the best two can only
meet in the final; where the field is no power of two the best seeds have no first
opponent. In a double elimination losers drop into a second bracket, entering it from
the other side so that the same two meet again as late as possible; its winner must
beat the winner of the first bracket twice (the second contest is the *reset*).

A contest is a best of several matches. It is decided as soon as the lead is larger
than what is left, or when somebody left; if nobody leads after the last match the
higher sum of scores decides, then the better seed: nothing ever hangs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from ladder.tournaments.formats.config import Config, Format
from ladder.tournaments.formats.values import (
    FINAL,
    LOSERS,
    MAIN,
    FixtureKey,
    FixtureRecord,
    How,
    SeededEntrant,
)


class Gap(Enum):
    """What stands in a bracket where no entrant does (yet)."""

    UNKNOWN = "unknown"
    NOBODY = "nobody"


Slot = int | Gap
UNKNOWN = (Gap.UNKNOWN, Gap.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Contest:
    """Two places of the bracket and who came out of it. ``place`` has leg 0.

    ``wins`` are the points from its matches; ``why`` says what decided it.
    """

    place: FixtureKey
    slots: tuple[Slot, Slot]
    winner: Slot
    loser: Slot
    wins: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    why: str = ""


@dataclass(slots=True)
class Bracket:
    """All contests, by place, and the matches that are to be played next."""

    contests: dict[FixtureKey, Contest] = field(default_factory=dict)
    due: list[FixtureRecord] = field(default_factory=list)
    champion: Slot = Gap.UNKNOWN

    @property
    def over(self) -> bool:
        return self.champion is not Gap.UNKNOWN


def order(size: int) -> list[int]:
    """Return the seeds of a full bracket from top to bottom; ``size`` is 2^k."""
    seeds = [1]
    while len(seeds) < size:
        total = 2 * len(seeds) + 1
        seeds = [s for seed in seeds for s in (seed, total - seed)]
    return seeds


def bracket(
    config: Config,
    form: Format,
    entrants: Sequence[SeededEntrant],
    fixtures: Mapping[FixtureKey, FixtureRecord],
    after: int = 0,
) -> Bracket:
    """Fold the fixtures into the bracket of ``entrants``, whose first round is after.

    ``fixtures`` are settled (`values.settle`). Rounds count on from ``after``.
    """
    return _Fold(config, entrants, fixtures, after).run(form)


class _Fold:
    def __init__(
        self,
        config: Config,
        entrants: Sequence[SeededEntrant],
        fixtures: Mapping[FixtureKey, FixtureRecord],
        after: int,
    ) -> None:
        self.config, self.fixtures, self.after = config, fixtures, after
        ranked = sorted(entrants, key=lambda e: e.seed)
        self.size = 1 << max(1, (len(ranked) - 1).bit_length())
        self.rank = {entrant.key: k for k, entrant in enumerate(ranked)}
        self.first: list[Slot] = [
            ranked[seed - 1].key if seed <= len(ranked) else Gap.NOBODY
            for seed in order(self.size)
        ]
        self.last = 0
        self.result = Bracket()

    def run(self, form: Format) -> Bracket:
        if form == Format.SINGLE_ELIMINATION:
            self.last = self.after + self.size.bit_length() - 1
            self.result.champion = self._single()
        else:
            self.result.champion = self._double()
        return self.result

    def _single(self) -> Slot:
        slots, step = self.first, 0
        while len(slots) > 1:
            step += 1
            slots = [c.winner for c in self._round(step, MAIN, slots)]
        return slots[0]

    def _double(self) -> Slot:
        """Play both brackets; a round of losers waits for what falls into it only."""
        contests = self._round(1, MAIN, self.first)
        upper = [c.winner for c in contests]
        lower = [c.loser for c in contests]
        step, drop = 1, 0
        while len(upper) > 1:
            contests = self._round(step + 1, MAIN, upper)
            if len(lower) > 1:
                lower = [c.winner for c in self._round(step + 1, LOSERS, lower)]
            upper = [c.winner for c in contests]
            falling = _crossed([c.loser for c in contests], drop)
            mixed = [s for pair in zip(lower, falling, strict=True) for s in pair]
            lower = [c.winner for c in self._round(step + 2, LOSERS, mixed)]
            step, drop = step + 2, drop + 1
        return self._grand_final(upper[0], lower[0], step + 1)

    def _grand_final(self, upper: Slot, lower: Slot, step: int) -> Slot:
        final = self._contest(FixtureKey(self.after + step, FINAL, 0), upper, lower)
        if not self.config.reset or final.winner != lower or lower is Gap.UNKNOWN:
            return final.winner
        place = FixtureKey(self.after + step + 1, FINAL, 0)
        return self._contest(place, upper, lower).winner

    def _round(self, step: int, pool: int, slots: Sequence[Slot]) -> list[Contest]:
        return [
            self._contest(
                FixtureKey(self.after + step, pool, k // 2), *slots[k : k + 2]
            )
            for k in range(0, len(slots), 2)
        ]

    def _contest(self, place: FixtureKey, one: Slot, two: Slot) -> Contest:
        if isinstance(one, Gap) or isinstance(two, Gap):
            contest = _walked_through(place, one, two)
        else:
            contest = self._played(place, one, two)
        self.result.contests[place] = contest
        return contest

    def _played(self, place: FixtureKey, one: int, two: int) -> Contest:
        wins, scores = [Fraction(0)] * 2, [0, 0]
        best_of = self._best_of(place)
        for leg in range(best_of):
            found = self.fixtures.get(replace(place, leg=leg))
            if found is None or found.outcome is None:
                self._due(replace(place, leg=leg), (one, two))
                return Contest(place, (one, two), *UNKNOWN, (wins[0], wins[1]))
            points = [found.outcome.points[found.entrants.index(k)] for k in (one, two)]
            for side, key in enumerate((one, two)):
                wins[side] += points[side]
                scores[side] += found.outcome.scores[found.entrants.index(key)]
            if found.outcome.how == How.WALKOVER:
                return self._decided(
                    place, (one, two), points, [0, 0], "the other left"
                )
            if abs(wins[0] - wins[1]) > best_of - leg - 1:
                break
        return self._decided(place, (one, two), wins, scores, "matches won")

    def _decided(
        self,
        place: FixtureKey,
        pair: tuple[int, int],
        wins: Sequence[Fraction],
        scores: Sequence[int],
        why: str,
    ) -> Contest:
        if wins[0] != wins[1]:
            ahead = 0 if wins[0] > wins[1] else 1
        elif scores[0] != scores[1]:
            ahead = 0 if scores[0] > scores[1] else 1
            why = "level on matches; the higher sum of scores"
        else:
            ahead = 0 if self.rank[pair[0]] < self.rank[pair[1]] else 1
            why = "level on matches and scores; the better seed"
        both = (wins[0], wins[1])
        return Contest(place, pair, pair[ahead], pair[1 - ahead], both, why)

    def _due(self, place: FixtureKey, pair: tuple[int, int]) -> None:
        if place not in self.fixtures:
            seats = pair if place.leg % 2 == 0 else pair[::-1]
            self.result.due.append(FixtureRecord(place, seats))

    def _best_of(self, place: FixtureKey) -> int:
        last = place.pool == FINAL or (place.pool == MAIN and place.round == self.last)
        return self.config.best_of_final if last else self.config.best_of


def _walked_through(place: FixtureKey, one: Slot, two: Slot) -> Contest:
    """Return a contest that at least one side has not reached, or never will."""
    if Gap.UNKNOWN in (one, two):
        return Contest(place, (one, two), Gap.UNKNOWN, Gap.UNKNOWN)
    winner = two if one is Gap.NOBODY else one
    return Contest(place, (one, two), winner, Gap.NOBODY, why="no opponent")


def _crossed(slots: list[Slot], drop: int) -> list[Slot]:
    """Turn the order in which losers drop, so that rematches come late."""
    if drop % 2 == 0:
        return slots[::-1]
    half = len(slots) // 2
    return slots[half:] + slots[:half]
