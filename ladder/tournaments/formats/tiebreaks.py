"""Standings: points, tie-breaks, and in words why one is ahead of another.

A table of more than two seats counts as everybody against everybody at it, so that
the tie-breaks, which come from chess, mean the same at any table. Fixtures that were
not played (byes, walkovers, dead games) count for the tie-breaks as if played against
an opponent with the entrant's own points, as in FIDE's Handbook C.07 (2023), 16.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ladder.tournaments.formats.config import TieBreak
from ladder.tournaments.formats.values import (
    FixtureRecord,
    FixtureResult,
    How,
    SeededEntrant,
)

WORDS = {
    TieBreak.DIRECT_ENCOUNTER: "direct encounter (points from each other)",
    TieBreak.BUCHHOLZ: "Buchholz (sum of the opponents' points)",
    TieBreak.MEDIAN_BUCHHOLZ: "median Buchholz (Buchholz without the highest and the"
    " lowest opponent)",
    TieBreak.SONNEBORN_BERGER: "Sonneborn-Berger (points of those beaten, half of those"
    " drawn with)",
    TieBreak.WINS: "matches won at the table",
    TieBreak.SCORE: "score difference over all games",
}
HALF = Fraction(1, 2)
LEAST_FOR_MEDIAN = 3


@dataclass(slots=True)
class EntrantRecord:
    """What one entrant has done so far.

    ``met`` is opponent and result (1, ½, 0) of everything played; ``unplayed`` the
    points of what was not.
    """

    points: Fraction = Fraction(0)
    met: list[tuple[int, Fraction]] = field(default_factory=list)
    unplayed: list[Fraction] = field(default_factory=list)
    played: int = 0
    wins: int = 0
    score: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """One line of the standings; equal ranks share a place. ``note`` says more."""

    key: int
    rank: int
    points: Fraction
    played: int
    values: Mapping[TieBreak, Fraction] = field(default_factory=dict)
    note: str = ""


def records(
    entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> dict[int, EntrantRecord]:
    """Return what each entrant has done in the settled fixtures."""
    found = {entrant.key: EntrantRecord() for entrant in entrants}
    for fixture in fixtures:
        for seat, key in enumerate(fixture.entrants):
            if fixture.outcome is not None and key in found:
                _add(found[key], fixture, fixture.outcome, seat)
    return found


def _add(
    record: EntrantRecord, fixture: FixtureRecord, outcome: FixtureResult, seat: int
) -> None:
    mine = outcome.points[seat]
    record.points += mine
    if outcome.how != How.PLAYED:
        record.unplayed.append(mine)
        return
    record.played += 1
    others = [k for k in range(len(fixture.entrants)) if k != seat]
    for k in others:
        theirs = outcome.points[k]
        result = HALF if mine == theirs else Fraction(int(mine > theirs))
        record.met.append((fixture.entrants[k], result))
    record.wins += all(mine > outcome.points[k] for k in others)
    rest = sum(outcome.scores[k] for k in others)
    record.score += outcome.scores[seat] - Fraction(rest, len(others))


class TieBreakTable:
    """The standings of one field, by points and then by tie-breaks in order."""

    def __init__(
        self,
        entrants: Sequence[SeededEntrant],
        fixtures: Sequence[FixtureRecord],
        breaks: Sequence[TieBreak],
    ) -> None:
        self.breaks = tuple(breaks)
        self.records = records(entrants, fixtures)
        self.seeds = {entrant.key: entrant.seed for entrant in entrants}

    @cached_property
    def places(self) -> list[list[int]]:
        """Return the entrants by place; those on one place could not be separated."""
        by_points: dict[Fraction, list[int]] = {}
        for key, record in self.records.items():
            by_points.setdefault(record.points, []).append(key)
        return [
            sorted(place, key=self.seeds.__getitem__)
            for points in sorted(by_points, reverse=True)
            for place in self._split(by_points[points], self.breaks)
        ]

    @property
    def lines(self) -> list[StandingsLine]:
        lines: list[StandingsLine] = []
        for place in self.places:
            rank = len(lines) + 1
            lines += [self._line(key, rank) for key in place]
        return lines

    def _line(self, key: int, rank: int) -> StandingsLine:
        record = self.records[key]
        values: dict[TieBreak, Fraction] = {
            rule: self.value(rule, key, ())
            for rule in self.breaks
            if rule != TieBreak.DIRECT_ENCOUNTER
        }
        return StandingsLine(key, rank, record.points, record.played, values)

    def _split(
        self, tied: Sequence[int], breaks: Sequence[TieBreak]
    ) -> list[list[int]]:
        if len(tied) == 1 or not breaks:
            return [list(tied)]
        groups: dict[Fraction, list[int]] = {}
        for key in tied:
            groups.setdefault(self.value(breaks[0], key, tied), []).append(key)
        return [
            place
            for value in sorted(groups, reverse=True)
            for place in self._split(groups[value], breaks[1:])
        ]

    def value(self, rule: TieBreak, key: int, tied: Sequence[int]) -> Fraction:
        """Return an entrant's tie-break among ``tied``; more is better."""
        record = self.records[key]
        match rule:
            case TieBreak.DIRECT_ENCOUNTER:
                return self._encounter(key, tied)
            case TieBreak.BUCHHOLZ:
                return sum(self._opponents(key), Fraction(0))
            case TieBreak.MEDIAN_BUCHHOLZ:
                points = sorted(self._opponents(key))
                if len(points) >= LEAST_FOR_MEDIAN:
                    points = points[1:-1]
                return sum(points, Fraction(0))
            case TieBreak.SONNEBORN_BERGER:
                met = (self.records[k].points * result for k, result in record.met)
                return sum(met, sum(record.unplayed, Fraction(0)) * record.points)
            case TieBreak.WINS:
                return Fraction(record.wins)
            case TieBreak.SCORE:
                return record.score

    def _opponents(self, key: int) -> list[Fraction]:
        record = self.records[key]
        met = [self.records[other].points for other, _ in record.met]
        return met + [record.points] * len(record.unplayed)

    def _encounter(self, key: int, tied: Sequence[int]) -> Fraction:
        """Count only where all who are tied have met each other, else 0 for all."""
        others = set(tied)
        for one in tied:
            if not others - {one} <= {k for k, _ in self.records[one].met}:
                return Fraction(0)
        met = self.records[key].met
        return sum((result for k, result in met if k in others), Fraction(0))

    def explain(self, one: int, two: int) -> list[str]:
        """Say what separates two entrants, rule by rule, up to the one that does.

        Each sentence names the rule and both values, ``one`` first.
        """
        mine, theirs = self.records[one].points, self.records[two].points
        said = [_compared("points", mine, theirs)]
        tied = [k for k, r in self.records.items() if r.points == mine]
        for rule in self.breaks:
            if mine != theirs:
                return said
            mine, theirs = (self.value(rule, key, tied) for key in (one, two))
            said.append(self._said(rule, tied, mine, theirs))
            tied = [k for k in tied if self.value(rule, k, tied) == mine]
        if mine == theirs:
            said.append("nothing separates them: they share the place")
        return said

    def _said(
        self, rule: TieBreak, tied: Sequence[int], mine: Fraction, theirs: Fraction
    ) -> str:
        said = _compared(WORDS[rule], mine, theirs)
        if rule == TieBreak.DIRECT_ENCOUNTER and len(tied) > len((mine, theirs)):
            return f"{said}, among the {len(tied)} who were level"
        return said


def _compared(what: str, mine: Fraction, theirs: Fraction) -> str:
    if mine == theirs:
        return f"{what}: both {shown(mine)}"
    return f"{what}: {shown(mine)} against {shown(theirs)}"


def shown(value: Fraction) -> str:
    """Write a number of points for people: 3, 12½, 2.33."""
    if value.denominator == 1:
        return str(value.numerator)
    if value.denominator == HALF.denominator:
        whole = int(abs(value))
        return f"{'-' if value < 0 else ''}{whole or ''}½"
    return f"{float(value):.2f}"
