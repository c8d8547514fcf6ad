"""Choosing the next match for a ladder of 10,000 bots: at most 5 ms of CPU.

Measured as the dispatcher does it, match after match with a game folded in between:
each costs the choice itself and telling the field what the game made of its bots. Run
it by itself with `python -m tests.bench.matchmaking`.
"""

import time
from dataclasses import replace
from random import Random

from ladder.ratings.core.pairing import Matchmaker, PairingTerms
from ladder.ratings.core.pool import PoolEntry

BOTS, MATCHES, LIMIT_MS = 10_000, 1_000, 5.0


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (what, milliseconds, target, whether it holds)."""
    rows = []
    for seats in (2, 3, 4):
        spent = 1000 * _choice(seats)
        what = f"choosing a match of {seats} among {BOTS:,} bots, ms of CPU"
        rows.append((what, spent, f"≤ {LIMIT_MS:.0f} ms", spent <= LIMIT_MS))
    return rows


def _choice(seats: int) -> float:
    rng = Random(7)
    maker = Matchmaker(PairingTerms({str(seats): 1.0}), rng)
    maker.field.start(
        PoolEntry(k, f"bot-{k}", k, k // 2, rng.gauss(25, 8), rng.uniform(1, 8), 40, 40)
        for k in range(BOTS)
    )
    start = time.process_time()
    for _ in range(MATCHES):
        table = maker.next_table()
        assert table is not None
        for sat in table.seats:
            maker.over(sat.bot)
            maker.put(replace(sat, mu=sat.mu + rng.gauss(0, 1), games=sat.games + 1))
    return (time.process_time() - start) / MATCHES


if __name__ == "__main__":
    for what, value, target, holds in measure():
        print(f"{what}: {value:.3f} ({target}) {'holds' if holds else 'FAILS'}")
