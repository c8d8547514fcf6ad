"""The standings of a tournament in every format, and why one is ahead of another.

Round robins and Swiss are ranked by a table of points and tie-breaks (`tiebreaks`),
eliminations by the round in which an entrant was eliminated, groups by both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torres.formats.config import ELIMINATIONS, Config, Format
from torres.formats.elimination import Bracket, EmptySlot, Slot, fold_bracket
from torres.formats.groups import (
    draw_groups,
    final_bracket,
    group_stage,
    tie_break_table,
)
from torres.formats.tiebreaks import StandingsLine, TieBreakTable, entrant_records
from torres.formats.values import (
    LOSERS,
    MAIN,
    FixtureRecord,
    SeededEntrant,
    any_open,
    settle,
)

Elimination = tuple[int, str]
"""The round in which an entrant was eliminated, and the reason in words."""


class Standings:
    """The ordered result of a tournament, final or so far.

    ``lines`` are the standings from the best to the last. ``tables`` are the tables of
    points by pool: the groups, or 0 for a round robin or Swiss. ``bracket`` is None if
    there is no elimination or it has not begun.
    """

    def __init__(
        self,
        config: Config,
        entrants: Sequence[SeededEntrant],
        fixtures: Sequence[FixtureRecord],
        *,
        groups_are_known: bool = True,
    ) -> None:
        """``groups_are_known`` is false if some fixtures of the groups are left out.

        The standings then leave out the final, because it follows from all groups.
        """
        self.groups_are_known = groups_are_known
        self.config = config
        self.entrants = entrants
        self.settled = settle(fixtures, entrants, config.points)
        self.bracket: Bracket | None = None
        self.tables: dict[int, TieBreakTable] = {}
        if config.format in ELIMINATIONS:
            self.bracket = fold_bracket(config, config.format, entrants, self.settled)
            self.lines = self._by_bracket(self.bracket)
        elif config.format == Format.GROUPS:
            self.lines = self._by_groups()
        else:
            fixtures = list(self.settled.values())
            self.tables[0] = tie_break_table(config, entrants, fixtures)
            self.lines = self.tables[0].lines

    def _by_groups(self) -> list[StandingsLine]:
        """Rank the finalists by the bracket, and the others below by group rank.

        Entrants that left and are not in the final rank below all others.
        """
        groups = group_stage(self.settled)
        for pool, members in draw_groups(self.config, self.entrants).items():
            fixtures = [fixture for key, fixture in groups.items() if key.pool == pool]
            self.tables[pool] = tie_break_table(self.config, members, fixtures)
        finalists: list[StandingsLine] = []
        if self.groups_are_known and groups and not any_open(groups):
            self.bracket = final_bracket(self.config, self.entrants, self.settled)
            finalists = self._by_bracket(self.bracket)
        advanced = {line.key for line in finalists}
        left = {entrant.key for entrant in self.entrants if entrant.left}
        others = [
            (line.key in left, line.rank, -line.points, pool, line)
            for pool, table in self.tables.items()
            for line in table.lines
            if line.key not in advanced
        ]
        others.sort(key=lambda row: row[:4])
        lines = list(finalists)
        for has_left, rank, _, pool, line in others:
            ahead = sum((other[0], other[1]) < (has_left, rank) for other in others)
            lines.append(
                replace(
                    line,
                    rank=len(finalists) + ahead + 1,
                    note=f"rank {rank} in group {pool}",
                )
            )
        return lines

    def _by_bracket(self, bracket: Bracket) -> list[StandingsLine]:
        """Rank by the round of elimination, the latest first.

        Entrants that are still in are ahead of all that are eliminated. In a double
        elimination a loss in the main bracket eliminates nobody.
        """
        is_double = any(key.pool == LOSERS for key in bracket.contests)
        eliminated: dict[int, Elimination] = {}
        keys: dict[int, None] = {}  # a set that keeps the order
        for key, contest in sorted(
            bracket.contests.items(), key=lambda item: item[0].round
        ):
            keys.update((s, None) for s in contest.slots if isinstance(s, int))
            drops = is_double and key.pool == MAIN
            if isinstance(contest.loser, EmptySlot) or drops:
                continue
            note = f"eliminated in round {key.round}, decided by {contest.why}"
            eliminated[contest.loser] = (key.round, note)
        if not isinstance(bracket.champion, EmptySlot):
            eliminated.pop(bracket.champion, None)
        field = [SeededEntrant(key, 0) for key in keys]
        records = entrant_records(field, list(self.settled.values()))
        never = 1 + max((round_ for round_, _ in eliminated.values()), default=0)
        last_round = {key: eliminated.get(key, (never, ""))[0] for key in keys}
        seeds = {entrant.key: entrant.seed for entrant in self.entrants}
        return [
            StandingsLine(
                key,
                1 + sum(other > last_round[key] for other in last_round.values()),
                records[key].points,
                records[key].played,
                note=_bracket_note(key, eliminated, bracket.champion),
            )
            for key in sorted(last_round, key=lambda k: (-last_round[k], seeds[k]))
        ]

    def explain(self, one: int, two: int) -> list[str]:
        """Return sentences that say why one is ahead, or why they share a rank."""
        for table in self.tables.values():
            in_one_table = one in table.records and two in table.records
            if in_one_table and not self._bracket_separates(one, two):
                return table.explain(one, two)
        lines = {line.key: line for line in self.lines}
        return [
            _rank_sentence("first", lines[one]),
            _rank_sentence("second", lines[two]),
        ]

    def _bracket_separates(self, one: int, two: int) -> bool:
        if self.bracket is None:
            return False
        keys = {s for c in self.bracket.contests.values() for s in c.slots}
        return one in keys or two in keys


def _bracket_note(
    key: int, eliminated: Mapping[int, Elimination], champion: Slot
) -> str:
    if key == champion:
        return "wins the tournament"
    if key in eliminated:
        _, note = eliminated[key]
        return note
    return "still in"


def _rank_sentence(which: str, line: StandingsLine) -> str:
    sentence = f"{which}: rank {line.rank}"
    return f"{sentence}, {line.note}" if line.note else sentence
