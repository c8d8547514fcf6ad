"""A few real games between random players, whose replays all made-up games share.

To play a million games takes days. Therefore every made-up game is a copy of one of
these: its replay is valid and has exactly the scores and ranks of its seats. But the
replay names no bots of the ladder, and many matches have the same seed and moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from engine import referee
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.games import replays
from ladder.games.models import tied_ranks
from ladder.ops.chaos.scripted_player import ScriptedPlayer

SPECIMENS_PER_SIZE = 8


@dataclass(frozen=True, slots=True)
class Specimen:
    """A finished game. `scores`, `ranks` and `tied` are in the order of the seats.

    `seats` lists the seats by rank, the best first; `replay` is the stored form.
    """

    seed: str
    scores: list[int]
    ranks: list[int]
    tied: list[bool]
    seats: list[int]
    reason: str
    engine: str
    replay: bytes

    def seating(self, order: Sequence[int]) -> list[int]:
        """Return the bots by seat, if they finished in this order, the winner first."""
        by_seat = dict(zip(self.seats, order, strict=True))
        return [by_seat[seat] for seat in sorted(by_seat)]


def play_specimens(
    ruleset: str, players: int, limits: dict[str, int], rng: Random
) -> list[Specimen]:
    """Play some random games with this number of players."""
    return [
        _play(ruleset, players, limits, f"{rng.getrandbits(128):032x}")
        for _ in range(SPECIMENS_PER_SIZE)
    ]


def _play(ruleset: str, players: int, limits: dict[str, int], seed: str) -> Specimen:
    rules = resolve(ruleset, players)
    record = referee.play(
        TorresGame(rules, derive(rules, seed)),
        [ScriptedPlayer(str(seat)) for seat in range(players)],
        seed=seed,
        limits=limits,
    )
    names = [{"name": f"Player {seat}", "bot": ""} for seat in range(players)]
    document: dict[str, Any] = record.replay(seed=seed, players=names)
    result = document["result"]
    ranks: list[int] = result["ranks"]
    return Specimen(
        seed=seed,
        scores=result["scores"],
        ranks=ranks,
        tied=tied_ranks(ranks),
        seats=sorted(range(players), key=ranks.__getitem__),
        reason=result["reason"],
        engine=str(document["engine"]),
        replay=replays.pack(document),
    )
