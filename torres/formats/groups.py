"""The group stage: which entrants play in which group, and which ones advance.

Each group is a round robin. When all groups are over, the best of each group are
seeded into an elimination (`elimination`).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from torres.formats.config import Config, Format
from torres.formats.elimination import Bracket, fold_bracket, seed_order
from torres.formats.tiebreaks import StandingsLine, TieBreakTable
from torres.formats.values import (
    MAIN,
    FixtureKey,
    FixtureRecord,
    ResultKind,
    SeededEntrant,
    SettledFixtures,
)


def draw_groups(
    config: Config, entrants: Sequence[SeededEntrant]
) -> dict[int, list[SeededEntrant]]:
    """Return the entrants of each group, by the group's number from 1.

    The seeds are dealt back and forth: with three groups seeds 1, 2, 3 go to groups 1,
    2, 3 and seeds 4, 5, 6 to groups 3, 2, 1. Each group gets at least two entrants, so
    there may be fewer groups than configured.
    """
    count = min(config.groups, max(1, len(entrants) // 2))
    groups: dict[int, list[SeededEntrant]] = {g: [] for g in range(1, count + 1)}
    for k, entrant in enumerate(sorted(entrants, key=lambda e: e.seed)):
        lap, index = divmod(k, count)
        groups[index + 1 if lap % 2 == 0 else count - index].append(entrant)
    return groups


def group_stage(settled: SettledFixtures) -> dict[FixtureKey, FixtureRecord]:
    return {key: fixture for key, fixture in settled.items() if key.pool > MAIN}


def final_stage(settled: SettledFixtures) -> dict[FixtureKey, FixtureRecord]:
    return {key: fixture for key, fixture in settled.items() if key.pool <= MAIN}


def final_bracket(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> Bracket:
    """Return the bracket of the final. The group stage must be over."""
    groups = group_stage(settled)
    after = max(key.round for key in groups)
    field = finalists(config, entrants, settled)
    return fold_bracket(config, config.final, field, final_stage(settled), after)


def finalists(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> list[SeededEntrant]:
    """Return the entrants that advance, with their seeds in the final.

    This is decided once, when the group stage is over, and stored in ``final_seed``. A
    later withdrawal changes the tables of the groups, but not the field of the final.
    """
    decided = [
        SeededEntrant(entrant.key, entrant.final_seed, entrant.left)
        for entrant in entrants
        if entrant.final_seed is not None
    ]
    return decided or _decide_finalists(config, entrants, group_stage(settled))


def _decide_finalists(
    config: Config, entrants: Sequence[SeededEntrant], groups: SettledFixtures
) -> list[SeededEntrant]:
    """Decide which entrants advance, and their seeds in the final.

    1. An entrant that has left, or lost a match of the group stage by walkover, does
       not advance.
    2. The group winners are the first tier, the second of each group the second tier,
       and so on. Each tier is sorted by points per match, then by seed.
    3. Within a tier entrants change places if that avoids a first contest between two
       entrants of one group.
    """
    gone = _losers_by_walkover(groups)
    gone |= {entrant.key for entrant in entrants if entrant.left}
    by_key = {entrant.key: entrant for entrant in entrants}
    tiers: list[list[tuple[Fraction, int, int]]] = [[] for _ in range(config.advance)]
    for pool, members in draw_groups(config, entrants).items():
        lines = [
            line
            for line in _group_lines(config, members, groups, pool)
            if line.key not in gone
        ]
        for tier, line in zip(tiers, lines, strict=False):
            share = line.points / max(1, line.played)
            tier.append((-share, by_key[line.key].seed, line.key))
    ranked = [
        (tier, key) for tier, lines in enumerate(tiers) for *_, key in sorted(lines)
    ]
    group_of = {
        entrant: key.pool
        for key, fixture in groups.items()
        for entrant in fixture.entrants
    }
    return [
        SeededEntrant(key, seed, by_key[key].left)
        for seed, key in enumerate(_keep_groups_apart(ranked, group_of), 1)
    ]


def _losers_by_walkover(groups: SettledFixtures) -> set[int]:
    return {
        key
        for fixture in groups.values()
        if fixture.result and fixture.result.how == ResultKind.WALKOVER
        for key, points in zip(fixture.entrants, fixture.result.points, strict=True)
        if points < max(fixture.result.points)
    }


def _keep_groups_apart(
    ranked: Sequence[tuple[int, int]], group_of: Mapping[int, int]
) -> list[int]:
    """Return the keys of (tier, key) pairs in the order of their seeds.

    For each first contest within one group, exchange its lower seed with another
    entrant of the same tier. Keep the exchange if fewer such contests remain.
    """
    size = 1 << max(1, (len(ranked) - 1).bit_length())
    seeds = seed_order(size)
    pairs = [sorted(seeds[k : k + 2]) for k in range(0, size, 2)]
    order = list(ranked)

    def clashes() -> list[int]:
        """Return the index of the lower seed of each contest within one group."""
        return [
            lower - 1
            for upper, lower in pairs
            if lower <= len(order)
            and group_of[order[upper - 1][1]] == group_of[order[lower - 1][1]]
        ]

    for index in clashes():
        for other in range(len(order)):
            if order[other][0] != order[index][0] or other == index:
                continue
            before = len(clashes())
            order[index], order[other] = order[other], order[index]
            if len(clashes()) < before:
                break
            order[index], order[other] = order[other], order[index]
    return [key for _, key in order]


def _group_lines(
    config: Config,
    members: Sequence[SeededEntrant],
    groups: SettledFixtures,
    pool: int,
) -> list[StandingsLine]:
    fixtures = [fixture for key, fixture in groups.items() if key.pool == pool]
    return tie_break_table(config, members, fixtures).lines


def tie_break_table(
    config: Config, entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> TieBreakTable:
    """Return the table of a round robin, a group or a Swiss.

    Entrants that left rank below all that stayed.
    """
    if config.format != Format.SWISS:
        fixtures = _without_early_leavers(entrants, fixtures)
    return TieBreakTable(entrants, fixtures, config.tie_breaks)


def _without_early_leavers(
    entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> list[FixtureRecord]:
    """Remove all fixtures of entrants that left before half of their matches.

    This is FIDE's rule for round robins (Handbook C.05, withdrawals). Otherwise an
    opponent that lost to the leaver early would be worse off than one that got a
    walkover later.
    """
    leavers = {entrant.key for entrant in entrants if entrant.left}
    if not leavers:
        return list(fixtures)
    early_leavers = set()
    for key in leavers:
        own = [fixture for fixture in fixtures if key in fixture.entrants]
        played = sum(
            fixture.result is not None and fixture.result.how == ResultKind.PLAYED
            for fixture in own
        )
        if played * 2 < len(own):
            early_leavers.add(key)
    return [f for f in fixtures if not early_leavers & set(f.entrants)]
