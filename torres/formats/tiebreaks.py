"""Points and tie-breaks of one field of entrants, and why one is ahead of another.

A table of more than two seats counts as if each entrant had met each other one at it,
so that the tie-breaks, which come from chess, mean the same at tables of any size.

A bye, a walkover or a dead match counts for Buchholz as a match against an opponent
with the entrant's own points, and for Sonneborn-Berger with the result that it gave
(FIDE Handbook C.07, 2023, article 16.4). FIDE also adjusts the points of opponents
that had unplayed rounds themselves; this module does not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from torres.formats.config import TieBreak
from torres.formats.values import (
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
MIN_OPPONENTS_FOR_MEDIAN = 3


@dataclass
class EntrantRecord:
    """The results of one entrant so far.

    ``beaten``, ``drawn`` and ``lost_to`` have the opponent of each meeting.
    ``unplayed`` has the points from each bye, walkover and dead match. Points are added
    as whole ``units``, and the score in two parts, because whole numbers are much
    faster than fractions.
    """

    points: Fraction = Fraction(0)
    units: int = 0
    beaten: list[int] = field(default_factory=list)
    drawn: list[int] = field(default_factory=list)
    lost_to: list[int] = field(default_factory=list)
    unplayed: list[Fraction] = field(default_factory=list)
    played: int = 0
    wins: int = 0
    whole_score: int = 0
    part_score: Fraction = Fraction(0)

    @property
    def score(self) -> Fraction:
        """The sum over the matches of the own score minus the opponents' mean score."""
        return self.whole_score + self.part_score

    @property
    def met(self) -> list[int]:
        """The opponent of each meeting; some are there more than once."""
        return self.beaten + self.drawn + self.lost_to

    @cached_property
    def opponents(self) -> frozenset[int]:
        return frozenset(self.met)


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
    matches of two have a short way of their own.
    """
    records = {entrant.key: EntrantRecord() for entrant in entrants}
    unit, whole = _in_whole_numbers(fixtures)
    for _, keys, result in fixtures:
        if result is None:
            continue
        how, points, scores = result
        if len(points) == 2 and how is ResultKind.PLAYED:
            one, two = keys
            own, theirs = whole[id(points)]
            margin = scores[0] - scores[1]
            _add_meeting(records.get(one), two, own, theirs, margin)
            _add_meeting(records.get(two), one, theirs, own, -margin)
        else:
            _add_each(records, keys, result, whole)
    for record in records.values():
        record.points = Fraction(record.units, unit)
    return records


def _in_whole_numbers(
    fixtures: Sequence[FixtureRecord],
) -> tuple[int, dict[int, tuple[int, ...]]]:
    """Return the denominator of all points, and their numerators by tuple of points.

    The tuples exist as long as the fixtures, so their ids are unique. To look up a
    fraction itself takes as long as to add it.
    """
    distinct = {id(f.result.points): f.result.points for f in fixtures if f.result}
    unit = math.lcm(*(p.denominator for points in distinct.values() for p in points))
    whole = {
        key: tuple(int(p * unit) for p in points) for key, points in distinct.items()
    }
    return unit, whole


def _add_meeting(
    record: EntrantRecord | None, other: int, own: int, theirs: int, margin: int
) -> None:
    """Add a match of two, as seen from one entrant, with the points of both."""
    if record is None:
        return
    record.units += own
    record.played += 1
    record.whole_score += margin
    if own > theirs:
        record.wins += 1
        record.beaten.append(other)
    elif own < theirs:
        record.lost_to.append(other)
    else:
        record.drawn.append(other)


def _add_each(
    records: Mapping[int, EntrantRecord],
    keys: Sequence[int],
    result: FixtureResult,
    whole: Mapping[int, Sequence[int]],
) -> None:
    for seat, (key, units) in enumerate(
        zip(keys, whole[id(result.points)], strict=True)
    ):
        if key in records:
            records[key].units += units
            _add(records[key], keys, result, seat)


def _add(
    record: EntrantRecord, keys: Sequence[int], result: FixtureResult, seat: int
) -> None:
    """Add a settled fixture to the record of the entrant in a seat, without points."""
    own = result.points[seat]
    if result.how != ResultKind.PLAYED:
        record.unplayed.append(own)
        return
    record.played += 1
    others = [k for k in range(len(keys)) if k != seat]
    for k in others:
        if own > result.points[k]:
            record.beaten.append(keys[k])
        elif own < result.points[k]:
            record.lost_to.append(keys[k])
        else:
            record.drawn.append(keys[k])
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
    def _tied(self) -> dict[tuple[bool, int], list[int]]:
        """The entrants with the same points, in units, apart from those that left."""
        tied: dict[tuple[bool, int], list[int]] = {}
        for key, points in self._whole.items():
            tied.setdefault((key not in self.left, points), []).append(key)
        return tied

    @cached_property
    def rank_groups(self) -> list[list[int]]:
        """The entrants, best first; those of one group share a rank, sorted by seed."""
        return [
            sorted(group, key=self.seeds.__getitem__)
            for points in sorted(self._tied, reverse=True)
            for group in self._split(self._tied[points], self.breaks)
        ]

    @cached_property
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
                beaten = self._sum_of_points(record.beaten)
                drawn = self._sum_of_points(record.drawn)
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
        met = [self._whole[other] for other in record.met]
        return met + [self._whole[key]] * len(record.unplayed)

    def _sum_of_points(self, keys: Sequence[int]) -> int:
        return sum(map(self._whole.__getitem__, keys))

    def _direct_encounter(self, key: int, tied: Sequence[int]) -> Fraction:
        """Return 0 for all unless all tied entrants have met each other."""
        others = set(tied)
        for one in tied:
            if not others - {one} <= self.records[one].opponents:
                return Fraction(0)
        record = self.records[key]
        beaten = sum(k in others for k in record.beaten)
        return beaten + sum(k in others for k in record.drawn) * HALF

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
        tied = self._tied[one not in self.left, self._whole[one]]
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
