"""The output of `torres play`: one line for each game, and a table at the end."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from engine.referee import GameRecord
from torres.common.json_object import JsonObject


@dataclass(slots=True)
class LocalStanding:
    """The results of one bot in all games of one `torres play`.

    ``points`` and ``ranks`` are sums over the games; ``forfeits`` counts reasons.
    """

    name: str
    games: int = 0
    wins: int = 0
    points: int = 0
    ranks: int = 0
    forfeits: Counter[str] = field(default_factory=Counter)

    def add(self, record: GameRecord, seat: int) -> None:
        """Add a game in which the bot had this seat."""
        result = record.result
        self.games += 1
        self.wins += result["ranks"][seat] == 1
        self.points += result["scores"][seat]
        self.ranks += result["ranks"][seat]
        self.forfeits.update(f.reason for f in record.forfeits if f.seat == seat)


def json_line(seed: str, record: GameRecord) -> str:
    """Return a game as one line of JSON (docs/contract.md, section 9)."""
    result = record.result
    line: JsonObject = {
        "seed": seed,
        "scores": result["scores"],
        "ranks": result["ranks"],
        "forfeits": [forfeit.entry() for forfeit in record.forfeits],
        "reason": result["reason"],
    }
    return json.dumps(line)


def game_lines(
    number: int, seed: str, names: Sequence[str], record: GameRecord
) -> list[str]:
    """Return the lines of a game: the scores, then one line for each forfeit."""
    result = record.result
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
        for f in record.forfeits
    ]
    return lines


def standing_table(standings: Sequence[LocalStanding]) -> Table:
    """Return the table that ends the output, the best mean rank first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("bot")
    for head in ("games", "won", "mean score", "mean rank"):
        table.add_column(head, justify="right")
    table.add_column("forfeits")
    for row in sorted(standings, key=lambda s: s.ranks / max(s.games, 1)):
        forfeits = [f"{n} × {reason}" for reason, n in sorted(row.forfeits.items())]
        table.add_row(
            Text(row.name),
            str(row.games),
            str(row.wins),
            f"{row.points / max(row.games, 1):.1f}",
            f"{row.ranks / max(row.games, 1):.2f}",
            ", ".join(forfeits) or "–",
        )
    return table
