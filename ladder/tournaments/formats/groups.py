"""Groups: who is drawn into which, and who advances as which seed of the final."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ladder.tournaments.formats.config import Config, Format
from ladder.tournaments.formats.elimination import Bracket, bracket, order
from ladder.tournaments.formats.tiebreaks import StandingsLine, TieBreakTable
from ladder.tournaments.formats.values import (
    MAIN,
    FixtureKey,
    FixtureRecord,
    How,
    SeededEntrant,
    Settled,
)


def drawn(
    config: Config, entrants: Sequence[SeededEntrant]
) -> dict[int, list[SeededEntrant]]:
    """Deal the seeds to the groups there and back: 1 2 3, 6 5 4, 7 8 9."""
    groups = min(config.groups, max(1, len(entrants) // 2))
    pools: dict[int, list[SeededEntrant]] = {g: [] for g in range(1, groups + 1)}
    for k, entrant in enumerate(sorted(entrants, key=lambda e: e.seed)):
        lap, at = divmod(k, groups)
        pools[at + 1 if lap % 2 == 0 else groups - at].append(entrant)
    return pools


def stage(settled: Settled, *, groups: bool) -> dict[FixtureKey, FixtureRecord]:
    return {p: f for p, f in settled.items() if (p.pool > MAIN) == groups}


def final(
    config: Config, entrants: Sequence[SeededEntrant], settled: Settled
) -> Bracket:
    first = stage(settled, groups=True)
    after = max(place.round for place in first)
    finalists = _advanced(config, entrants, first)
    return bracket(config, config.final, finalists, stage(settled, groups=False), after)


def _advanced(
    config: Config, entrants: Sequence[SeededEntrant], first: Settled
) -> list[SeededEntrant]:
    """Return the finalists, seeded: group winners first, each tier by its record.

    Who lost a group match by walkover had left, and does not advance. Two of one
    group do not meet at once where an exchange within a tier can avoid it.
    """
    gone = {
        key
        for f in first.values()
        if f.outcome and f.outcome.how == How.WALKOVER
        for key, points in zip(f.entrants, f.outcome.points, strict=True)
        if points < max(f.outcome.points)
    }
    by_key = {entrant.key: entrant for entrant in entrants}
    tiers: list[list[tuple[Fraction, int, int]]] = [[] for _ in range(config.advance)]
    for pool, members in drawn(config, entrants).items():
        lines = [
            line for line in _pool(config, members, first, pool) if line.key not in gone
        ]
        for tier, line in zip(tiers, lines, strict=False):
            share = line.points / max(1, line.played)
            tier.append((-share, by_key[line.key].seed, line.key))
    ranked = [
        (tier, key) for tier, lines in enumerate(tiers) for *_, key in sorted(lines)
    ]
    group = {f_key: p.pool for p, f in first.items() for f_key in f.entrants}
    keys = _kept_apart(ranked, group)
    return [
        SeededEntrant(key, seed, by_key[key].left) for seed, key in enumerate(keys, 1)
    ]


def _kept_apart(ranked: list[tuple[int, int]], group: Mapping[int, int]) -> list[int]:
    """Exchange neighbours of a tier until no first contest is within one group."""
    size = 1 << max(1, (len(ranked) - 1).bit_length())
    ranked = list(ranked)

    def clashes() -> list[int]:
        seeds = order(size)
        pairs = [sorted(seeds[k : k + 2]) for k in range(0, size, 2)]
        return [
            low - 1
            for high, low in pairs
            if low <= len(ranked)
            and group[ranked[high - 1][1]] == group[ranked[low - 1][1]]
        ]

    for at in clashes():
        for other in range(len(ranked)):
            if ranked[other][0] == ranked[at][0] and other != at:
                before = len(clashes())
                ranked[at], ranked[other] = ranked[other], ranked[at]
                if len(clashes()) < before:
                    break
                ranked[at], ranked[other] = ranked[other], ranked[at]
    return [key for _, key in ranked]


def _pool(
    config: Config, members: Sequence[SeededEntrant], first: Settled, pool: int
) -> list[StandingsLine]:
    return table(config, members, [f for p, f in first.items() if p.pool == pool]).lines


def table(
    config: Config, entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> TieBreakTable:
    if config.format != Format.SWISS:
        fixtures = _without_early_leavers(entrants, fixtures)
    return TieBreakTable(entrants, fixtures, config.tie_breaks)


def _without_early_leavers(
    entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> list[FixtureRecord]:
    """Drop what was played with somebody who left before half of the matches.

    FIDE's general rule for round robins (C.05, withdrawals): else those who met the
    leaver early and those who met nobody would be measured differently.
    """
    left = {entrant.key for entrant in entrants if entrant.left}
    gone = set()
    for key in left:
        mine = [f for f in fixtures if key in f.entrants]
        played = sum(
            f.outcome is not None and f.outcome.how == How.PLAYED for f in mine
        )
        if played * 2 < len(mine):
            gone.add(key)
    return [f for f in fixtures if not gone & set(f.entrants)]
