"""Who stands where, and why, in every format."""

from collections.abc import Mapping, Sequence

from ladder.tournaments.formats.config import ELIMINATIONS, Config, Format
from ladder.tournaments.formats.elimination import Bracket, Gap, bracket
from ladder.tournaments.formats.groups import drawn, final, stage, table
from ladder.tournaments.formats.tiebreaks import (
    EntrantRecord,
    StandingsLine,
    TieBreakTable,
    records,
)
from ladder.tournaments.formats.values import (
    LOSERS,
    MAIN,
    FixtureRecord,
    SeededEntrant,
    is_open,
    settle,
)


class Standings:
    """Who stands where, and why; ``lines`` from the best to the last."""

    def __init__(
        self,
        config: Config,
        entrants: Sequence[SeededEntrant],
        fixtures: Sequence[FixtureRecord],
    ) -> None:
        self.config, self.entrants = config, entrants
        self.settled = settle(fixtures, entrants, config.points)
        self.bracket: Bracket | None = None
        self.tables: dict[int, TieBreakTable] = {}
        if config.format in ELIMINATIONS:
            self.bracket = bracket(config, config.format, entrants, self.settled)
            self.lines = self._by_bracket(self.bracket)
        elif config.format == Format.GROUPS:
            self.lines = self._by_groups()
        else:
            self.tables[0] = table(config, entrants, list(self.settled.values()))
            self.lines = self.tables[0].lines

    def _by_groups(self) -> list[StandingsLine]:
        first = stage(self.settled, groups=True)
        pools = drawn(self.config, self.entrants)
        for pool, members in pools.items():
            fixtures = [f for p, f in first.items() if p.pool == pool]
            self.tables[pool] = table(self.config, members, fixtures)
        top: list[StandingsLine] = []
        if first and not is_open(first):
            self.bracket = final(self.config, self.entrants, self.settled)
            top = self._by_bracket(self.bracket)
        through = {line.key for line in top}
        rest = [
            (line.rank, pool, line)
            for pool, standing in self.tables.items()
            for line in standing.lines
            if line.key not in through
        ]
        found = list(top)
        for rank, pool, line in sorted(rest, key=lambda r: (r[0], -r[2].points, r[1])):
            better = sum(other < rank for other, *_ in rest)
            note = f"place {rank} of group {pool}"
            found.append(
                StandingsLine(line.key, len(top) + better + 1, line.points, line.played,
                     line.values, note)
            )  # fmt: skip
        return found

    def _by_bracket(self, found: Bracket) -> list[StandingsLine]:
        """Rank by how late somebody lost for good; who is still in is ahead."""
        lost: dict[int, tuple[int, str]] = {}
        double = any(place.pool == LOSERS for place in found.contests)
        keys: dict[int, None] = {}
        for place, contest in sorted(
            found.contests.items(), key=lambda item: item[0].round
        ):
            keys.update((s, None) for s in contest.slots if not isinstance(s, Gap))
            if isinstance(contest.loser, Gap) or (double and place.pool == MAIN):
                continue
            lost[contest.loser] = (
                place.round,
                f"out in round {place.round}: {contest.why}",
            )
        if not isinstance(found.champion, Gap):
            lost.pop(found.champion, None)
        done = records([SeededEntrant(k, 0) for k in keys], list(self.settled.values()))
        never = 1 + max((round_ for round_, _ in lost.values()), default=0)
        out = {key: lost.get(key, (never, ""))[0] for key in keys}
        seeds = {entrant.key: entrant.seed for entrant in self.entrants}
        return [
            _bracket_line(key, out, lost, done, found.champion)
            for key in sorted(out, key=lambda k: (-out[k], seeds[k]))
        ]

    def explain(self, one: int, two: int) -> list[str]:
        """Say why one is ahead of the other, or why they share a place."""
        for standing in self.tables.values():
            if (
                one in standing.records
                and two in standing.records
                and not self._apart(one, two)
            ):
                return standing.explain(one, two)
        ranks = {line.key: line for line in self.lines}
        return [
            f"{which}: place {ranks[key].rank}"
            + (f", {note}" if (note := ranks[key].note) else "")
            for which, key in (("first", one), ("second", two))
        ]

    def _apart(self, one: int, two: int) -> bool:
        """Tell whether the bracket separates them."""
        if self.bracket is None:
            return False
        keys = {s for c in self.bracket.contests.values() for s in c.slots}
        return one in keys or two in keys


def _bracket_line(
    key: int,
    out: Mapping[int, int],
    lost: Mapping[int, tuple[int, str]],
    done: Mapping[int, EntrantRecord],
    champion: object,
) -> StandingsLine:
    rank = 1 + sum(other > out[key] for other in out.values())
    note = (
        "wins the tournament" if key == champion else lost.get(key, (0, "still in"))[1]
    )
    return StandingsLine(key, rank, done[key].points, done[key].played, {}, note)
