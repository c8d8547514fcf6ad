"""How the results of local games are printed: a line each, and a table at the end."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from engine.referee import GameRecord


@dataclass(slots=True)
class LocalStanding:
    """What one bot did in all games of a call."""

    name: str
    games: int = 0
    wins: int = 0
    points: int = 0
    places: int = 0
    forfeits: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: GameRecord, seat: int) -> None:
        """Count one game, played on that seat."""
        result = outcome.result
        self.games += 1
        self.wins += result["ranks"][seat] == 1
        self.points += result["scores"][seat]
        self.places += result["ranks"][seat]
        self.forfeits.update(f.reason for f in outcome.forfeits if f.seat == seat)


def json_line(seed: str, outcome: GameRecord) -> str:
    """Return one game as one line for programs (contract, section 9)."""
    result = outcome.result
    line: dict[str, Any] = {
        "seed": seed,
        "scores": result["scores"],
        "ranks": result["ranks"],
        "forfeits": [forfeit.entry() for forfeit in outcome.forfeits],
        "reason": result["reason"],
    }
    return json.dumps(line)


def game_lines(
    number: int, seed: str, names: Sequence[str], outcome: GameRecord
) -> list[str]:
    """Return one game for a person: who got how many points, and what went wrong."""
    result = outcome.result
    seats = "   ".join(
        f"{'*' if rank == 1 else ' '}{name} {score}"
        for name, score, rank in zip(
            names, result["scores"], result["ranks"], strict=True
        )
    )
    lines = [f"game {number:>3}  {seats}   (seed {seed})"]
    lines += [
        f"          {names[f.seat]} (seat {f.seat}) forfeits before move "
        f"{f.before_move}: {f.reason}: {f.detail}"
        for f in outcome.forfeits
    ]
    return lines


def standing_table(standings: Sequence[LocalStanding]) -> Table:
    """Return the closing table, the best mean place first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("bot")
    for head in ("games", "won", "mean score", "mean place"):
        table.add_column(head, justify="right")
    table.add_column("forfeits")
    for one in sorted(standings, key=lambda s: s.places / max(s.games, 1)):
        table.add_row(
            Text(one.name),
            str(one.games),
            str(one.wins),
            f"{one.points / max(one.games, 1):.1f}",
            f"{one.places / max(one.games, 1):.2f}",
            ", ".join(f"{n} × {why}" for why, n in sorted(one.forfeits.items())) or "–",
        )
    return table
