"""Choosing the next match for a ladder of 10,000 bots: at most 5 ms of CPU time.

The benchmark works like the dispatcher: match after match, with a game folded in
between. So each match costs the choice itself, and the update of the pool with the new
ratings of its bots. Run it by itself with `python -m tests.bench.matchmaking`.
"""

import time
from dataclasses import replace
from random import Random

from tests.bench.sizes import size
from torres.rating.pairing import Matchmaker, PairingTerms
from torres.rating.pool import BotProfile

BOTS = size(10_000, short=100)
MATCHES = size(1_000, short=10)
LIMIT_MS = 5.0


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, milliseconds, target, True if the target is met)."""
    rows = []
    for seats in (2, 3, 4):
        spent = 1000 * _choice(seats)
        what = f"choosing a match of {seats} among {BOTS:,} bots, ms of CPU"
        rows.append((what, spent, f"≤ {LIMIT_MS:.0f} ms", spent <= LIMIT_MS))
    return rows


def _choice(seats: int) -> float:
    rng = Random(7)
    matchmaker = Matchmaker(PairingTerms({str(seats): 1.0}), rng)
    matchmaker.pool.fill(
        BotProfile(
            bot=k,
            name=f"bot-{k}",
            submission=k,
            owner=k // 2,
            mu=rng.gauss(25, 8),
            sigma=rng.uniform(1, 8),
            games=40,
            fresh=40,
        )
        for k in range(BOTS)
    )
    start = time.process_time()
    for _ in range(MATCHES):
        seating = matchmaker.next_seating()
        assert seating is not None
        for profile in seating.seats:
            matchmaker.game_ended(profile.bot)
            mu = profile.mu + rng.gauss(0, 1)
            matchmaker.update(replace(profile, mu=mu, games=profile.games + 1))
    return (time.process_time() - start) / MATCHES


if __name__ == "__main__":
    for what, value, target, holds in measure():
        print(f"{what}: {value:.3f} ({target}) {'holds' if holds else 'FAILS'}")
