"""Points and tie-breaks of one field of entrants, and why one is ahead of another.

A table of more than two seats counts as if each entrant had met each other one at it,
so that the tie-breaks, which come from chess, mean the same at tables of any size.

A bye, a walkover or a dead match counts for Buchholz as a match against an opponent
with the entrant's own points, and for Sonneborn-Berger with the result that it gave
(FIDE Handbook C.07, 2023, article 16.4). FIDE also adjusts the points of opponents
that had unplayed rounds themselves; this module does not.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ladder.tournaments.formats.config import TieBreak
from ladder.tournaments.formats.values import (
    FixtureRecord,
    FixtureResult,
    ResultKind,
    SeededEntrant,
)

EXPLANATIONS = {
    TieBreak.DIRECT_ENCOUNTER: "direct encounter (points against each other)",
    TieBreak.BUCHHOLZ: "Buchholz (sum of the opponents' points)",
    TieBreak.MEDIAN_BUCHHOLZ: "median Buchholz (Buchholz without the highest and the"
    " lowest opponent)",
    TieBreak.SONNEBORN_BERGER: "Sonneborn-Berger (points of the opponents beaten plus"
    " half the points of the opponents drawn with)",
    TieBreak.WINS: "matches won",
    TieBreak.SCORE: "score difference over all games",
}
ZERO = Fraction(0)
HALF = Fraction(1, 2)
ONE = Fraction(1)
MIN_OPPONENTS_FOR_MEDIAN = 3


@dataclass
class EntrantRecord:
    """The results of one entrant so far.

    ``met`` has an (opponent, result) pair for each meeting; the result is ONE, HALF or
    ZERO.
    ``unplayed`` has the points from each bye, walkover and dead match. The score
    is kept in two parts, because whole numbers are much faster than fractions.
    """

    points: Fraction = Fraction(0)
    met: list[tuple[int, Fraction]] = field(default_factory=list)
    unplayed: list[Fraction] = field(default_factory=list)
    played: int = 0
    wins: int = 0
    whole_score: int = 0
    part_score: Fraction = Fraction(0)

    @property
    def score(self) -> Fraction:
        """The sum over the matches of the own score minus the opponents' mean score."""
        return self.whole_score + self.part_score

    @cached_property
    def opponents(self) -> frozenset[int]:
        return frozenset(key for key, _ in self.met)


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """One line of the standings. Entrants that nothing separates share a rank.

    ``tie_breaks`` has no direct encounter, because that is a number only among the
    entrants that are tied. ``note`` is for people, for example "still in".
    """

    key: int
    rank: int
    points: Fraction
    played: int
    tie_breaks: Mapping[TieBreak, Fraction] = field(default_factory=dict)
    note: str = ""


def entrant_records(
    entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> dict[int, EntrantRecord]:
    """Return the record of each entrant, by key, from the settled fixtures.

    A round robin of 200 has 19,900 of them, so points are added as whole numbers, and
    fixtures with two seats have a short way of their own.
    """
    records = {entrant.key: EntrantRecord() for entrant in entrants}
    unit, whole = _in_whole_numbers(fixtures)
    totals: Counter[int] = Counter()
    for fixture in fixtures:
        result = fixture.result
        if result is None:
            continue
        points = [whole[id(value)] for value in result.points]
        for key, number in zip(fixture.entrants, points, strict=True):
            totals[key] += number
        if len(points) == 2 and result.how is ResultKind.PLAYED:
            one, two = fixture.entrants
            lead = points[0] - points[1]
            margin = result.scores[0] - result.scores[1]
            _add_meeting(records.get(one), two, lead, margin)
            _add_meeting(records.get(two), one, -lead, -margin)
        else:
            _add_each(records, fixture, result)
    for key, record in records.items():
        record.points = Fraction(totals[key], unit)
    return records


def _in_whole_numbers(fixtures: Sequence[FixtureRecord]) -> tuple[int, dict[int, int]]:
    """Return the denominator of all points, and the numerators by object.

    The objects exist as long as the fixtures, so their ids are unique. To look up a
    fraction itself takes as long as to add it.
    """
    distinct = {
        id(points): points
        for fixture in fixtures
        if fixture.result is not None
        for points in fixture.result.points
    }
    unit = math.lcm(*(points.denominator for points in distinct.values()))
    whole = {key: int(points * unit) for key, points in distinct.items()}
    return unit, whole


def _add_meeting(
    record: EntrantRecord | None, other: int, lead: int, margin: int
) -> None:
    """Add a fixture of two, as seen from one entrant: its lead in points and score."""
    if record is None:
        return
    record.played += 1
    record.whole_score += margin
    if lead > 0:
        record.wins += 1
        record.met.append((other, ONE))
    else:
        record.met.append((other, ZERO if lead else HALF))


def _add_each(
    records: Mapping[int, EntrantRecord], fixture: FixtureRecord, result: FixtureResult
) -> None:
    for seat, key in enumerate(fixture.entrants):
        if key in records:
            _add(records[key], fixture, result, seat)


def _add(
    record: EntrantRecord, fixture: FixtureRecord, result: FixtureResult, seat: int
) -> None:
    """Add a settled fixture to the record of the entrant in a seat, without points."""
    own = result.points[seat]
    if result.how != ResultKind.PLAYED:
        record.unplayed.append(own)
        return
    record.played += 1
    others = [k for k in range(len(fixture.entrants)) if k != seat]
    for k in others:
        theirs = result.points[k]
        meeting = HALF if own == theirs else ONE if own > theirs else ZERO
        record.met.append((fixture.entrants[k], meeting))
    record.wins += all(own > result.points[k] for k in others)
    others_score = sum(result.scores[k] for k in others)
    record.part_score += result.scores[seat] - Fraction(others_score, len(others))


class TieBreakTable:
    """The ranking of one field: by points, then by the tie-breaks in their order.

    Entrants that left rank below all that stayed.
    """

    def __init__(
        self,
        entrants: Sequence[SeededEntrant],
        fixtures: Sequence[FixtureRecord],
        breaks: Sequence[TieBreak],
    ) -> None:
        self.breaks = tuple(breaks)
        self.records = entrant_records(entrants, fixtures)
        self.seeds = {entrant.key: entrant.seed for entrant in entrants}
        self._values: dict[tuple[TieBreak, int], Fraction] = {}
        self.left = {entrant.key for entrant in entrants if entrant.left}

    @cached_property
    def _unit(self) -> int:
        """The denominator of all points: sums of whole numbers are much faster."""
        return math.lcm(*(r.points.denominator for r in self.records.values()))

    @cached_property
    def _whole(self) -> dict[int, int]:
        """The points of each entrant, in units."""
        return {
            key: int(record.points * self._unit) for key, record in self.records.items()
        }

    @cached_property
    def rank_groups(self) -> list[list[int]]:
        """The entrants, best first; those of one group share a rank, sorted by seed."""
        by_points: dict[tuple[bool, Fraction], list[int]] = {}
        for key, record in self.records.items():
            by_points.setdefault((key not in self.left, record.points), []).append(key)
        return [
            sorted(group, key=self.seeds.__getitem__)
            for points in sorted(by_points, reverse=True)
            for group in self._split(by_points[points], self.breaks)
        ]

    @property
    def lines(self) -> list[StandingsLine]:
        lines: list[StandingsLine] = []
        for group in self.rank_groups:
            rank = len(lines) + 1
            lines += [self._line(key, rank) for key in group]
        return lines

    def _line(self, key: int, rank: int) -> StandingsLine:
        record = self.records[key]
        tie_breaks: dict[TieBreak, Fraction] = {
            rule: self.value(rule, key, ())
            for rule in self.breaks
            if rule != TieBreak.DIRECT_ENCOUNTER
        }
        return StandingsLine(key, rank, record.points, record.played, tie_breaks)

    def _split(
        self, tied: Sequence[int], breaks: Sequence[TieBreak]
    ) -> list[list[int]]:
        """Split tied entrants by the first tie-break, and each part by the rest."""
        if len(tied) == 1 or not breaks:
            return [list(tied)]
        groups: dict[Fraction, list[int]] = {}
        for key in tied:
            groups.setdefault(self.value(breaks[0], key, tied), []).append(key)
        return [
            group
            for value in sorted(groups, reverse=True)
            for group in self._split(groups[value], breaks[1:])
        ]

    def value(self, rule: TieBreak, key: int, tied: Sequence[int]) -> Fraction:
        """Return the value of one tie-break for an entrant; a higher value is better.

        Only the direct encounter depends on ``tied``, the entrants that are tied.
        """
        if rule == TieBreak.DIRECT_ENCOUNTER:
            return self._direct_encounter(key, tied)
        if (rule, key) not in self._values:
            self._values[rule, key] = self._value(rule, key)
        return self._values[rule, key]

    def _value(self, rule: TieBreak, key: int) -> Fraction:
        record = self.records[key]
        match rule:
            case TieBreak.BUCHHOLZ:
                return Fraction(sum(self._opponents_points(key)), self._unit)
            case TieBreak.MEDIAN_BUCHHOLZ:
                points = sorted(self._opponents_points(key))
                if len(points) >= MIN_OPPONENTS_FOR_MEDIAN:
                    points = points[1:-1]
                return Fraction(sum(points), self._unit)
            case TieBreak.SONNEBORN_BERGER:
                beaten = sum(self._whole[k] for k, r in record.met if r is ONE)
                drawn = sum(self._whole[k] for k, r in record.met if r is HALF)
                unplayed = sum(record.unplayed, ZERO) * record.points
                return unplayed + Fraction(2 * beaten + drawn, 2 * self._unit)
            case TieBreak.WINS:
                return Fraction(record.wins)
            case TieBreak.SCORE:
                return record.score
            case TieBreak.DIRECT_ENCOUNTER:
                raise ValueError("the direct encounter depends on who is tied")

    def _opponents_points(self, key: int) -> list[int]:
        """Return the points of each opponent, as whole numbers of `_unit`."""
        record = self.records[key]
        met = [self._whole[other] for other, _ in record.met]
        return met + [self._whole[key]] * len(record.unplayed)

    def _direct_encounter(self, key: int, tied: Sequence[int]) -> Fraction:
        """Return 0 for all unless all tied entrants have met each other."""
        others = set(tied)
        for one in tied:
            if not others - {one} <= self.records[one].opponents:
                return Fraction(0)
        met = [result for k, result in self.records[key].met if k in others]
        return met.count(ONE) + met.count(HALF) * HALF

    def explain(self, one: int, two: int) -> list[str]:
        """Return one sentence for each rule, up to the one that separates the two.

        Each sentence names the rule and both values, that of ``one`` first.
        """
        if (one in self.left) != (two in self.left):
            which = "second" if two in self.left else "first"
            return [f"the {which} one has left: it ranks below all that stayed"]
        own = self.records[one].points
        theirs = self.records[two].points
        sentences = [_comparison("points", own, theirs)]
        tied = [
            k
            for k, points in self._whole.items()
            if points == self._whole[one] and (k in self.left) == (one in self.left)
        ]
        for rule in self.breaks:
            if own != theirs:
                return sentences
            own = self.value(rule, one, tied)
            theirs = self.value(rule, two, tied)
            sentences.append(_rule_comparison(rule, tied, own, theirs))
            tied = [k for k in tied if self.value(rule, k, tied) == own]
        if own == theirs:
            sentences.append("nothing separates them: they share the rank")
        return sentences


def _rule_comparison(
    rule: TieBreak, tied: Sequence[int], own: Fraction, theirs: Fraction
) -> str:
    sentence = _comparison(EXPLANATIONS[rule], own, theirs)
    if rule == TieBreak.DIRECT_ENCOUNTER and len(tied) > 2:
        return f"{sentence}, among the {len(tied)} tied entrants"
    return sentence


def _comparison(what: str, own: Fraction, theirs: Fraction) -> str:
    if own == theirs:
        return f"{what}: both {format_points(own)}"
    return f"{what}: {format_points(own)} against {format_points(theirs)}"


def format_points(value: Fraction) -> str:
    """Return a number of points as people write it: 3, 12½, 2.33."""
    if value.denominator == 1:
        return str(value.numerator)
    if value.denominator == HALF.denominator:
        whole = int(abs(value))
        return f"{'-' if value < 0 else ''}{whole or ''}½"
    return f"{float(value):.2f}"
