"""The strength of the house bots, as a table for docs/testing.md.

`python -m tests.bench house_table` plays all pairs with two seats, and tables of four,
with `torres match`: on all processors, with a progress bar in a terminal. After Ctrl-C
the same command continues, and a row that was played before is only read. `--chain`
leaves out the pairs that are no neighbours, and `--games` changes the number of games.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

TORRES = Path(sys.executable).with_name("torres")
GRADED = ("random", "banker", "greedy", "searcher", "planner", "master")
"""The bots of which each is much stronger than the one before."""
BESIDE = ("climber", "champion")
GAMES = 200
SEATS = 4  # of the large tables
SEED = "house-table"


def tables(*, chain: bool) -> Iterator[tuple[str, ...]]:
    """Yield the bots of each match: neighbours, large tables, and all other pairs."""
    neighbours = list(pairwise(GRADED))
    yield from neighbours
    yield from (GRADED[i : i + SEATS] for i in range(len(GRADED) - SEATS + 1))
    others = combinations((*BESIDE, *GRADED), 2)
    yield from () if chain else (pair for pair in others if pair not in neighbours)


def play(bots: Sequence[str], games: int) -> list[dict[str, Any]]:
    """Play a match, or what is missing of it; return the summary of each bot.

    Raises RuntimeError if games are missing.
    """
    names = [f"house:{bot}" for bot in bots]
    options = ["--games", str(games), "--seed", SEED, "--json"]
    done = subprocess.run(
        [TORRES, "match", *names, *options], stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(bots)}: torres match returned {done.returncode}")
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    return sorted(summary["bots"], key=lambda bot: -bot["score"])


def row(rows: Sequence[dict[str, Any]]) -> str:
    """Return the line of a match; the interval is that of the score of the best bot."""
    low, high = rows[0]["score_interval"]
    names = ", ".join(f"`{bot['bot'].removeprefix('house:')}`" for bot in rows)
    points = " : ".join(f"{bot['points']:.0f}" for bot in rows)
    slowest = max(bot["ms_max"] for bot in rows)
    forfeits = sum(sum(bot["forfeits"].values()) for bot in rows)
    score = f"{rows[0]['score']:.1%} ({low:.0%} to {high:.0%})"
    cells = (names, rows[0]["games"], score, points, f"{slowest:.0f}", forfeits)
    return f"| {' | '.join(map(str, cells))} |"


def report(arguments: list[str]) -> None:
    """Play the matches and print one line for each of them."""
    parser = argparse.ArgumentParser("python -m tests.bench house_table")
    parser.add_argument("--chain", action="store_true", help="only neighbours")
    parser.add_argument("--games", type=int, default=GAMES, help="of a pair")
    options = parser.parse_args(arguments)
    print(
        "| bots, the best first | games | score of the best (95 %) | points | ", end=""
    )
    print("slowest answer (ms) | forfeits |\n|---|---|---|---|---|---|", flush=True)
    for bots in tables(chain=options.chain):
        games = options.games // (2 if len(bots) == SEATS else 1)
        print(row(play(bots, games)), flush=True)
