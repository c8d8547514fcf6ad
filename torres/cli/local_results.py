"""A game that is played on this machine, and its result."""

from typing import Any, NamedTuple

import msgspec

from engine.referee import GameRecord


class LocalGame(NamedTuple):
    """One game to play. ``seats`` are indices of bots, by seat."""

    number: int
    seed: str
    seats: tuple[int, ...]


class LocalForfeit(msgspec.Struct, frozen=True):
    """A seat that forfeited, with the private detail for the owner of the bot."""

    seat: int
    before_move: int
    reason: str
    detail: str


class LocalResult(msgspec.Struct, frozen=True):
    """The result of one game, by seat, and what its bots used.

    ``bots`` are the seats of the game. ``ms`` has the charged thinking time of each
    decision, in milliseconds, and ``memory`` the peak of each bot in bytes. ``dead``
    says why this machine could not play the game; it is empty otherwise.
    """

    game: int
    seed: str
    bots: tuple[int, ...]
    scores: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    reason: str = ""
    forfeits: tuple[LocalForfeit, ...] = ()
    ms: tuple[tuple[float, ...], ...] = ()
    memory: tuple[int | None, ...] = ()
    dead: str = ""

    def outcome(self) -> dict[str, Any]:
        """Return what does not depend on the machine, as ``--json`` prints it."""
        return {
            "game": self.game,
            "seed": self.seed,
            "bots": list(self.bots),
            "scores": list(self.scores),
            "ranks": list(self.ranks),
            "forfeits": [
                {"seat": f.seat, "before_move": f.before_move, "reason": f.reason}
                for f in self.forfeits
            ],
            "reason": self.reason,
        }


def result_of(
    game: LocalGame, record: GameRecord, memory: tuple[int | None, ...]
) -> LocalResult:
    """Return the result of a game from the record of the referee."""
    result = record.result
    ms: list[list[float]] = [[] for _ in game.seats]
    for move in record.moves:
        if move.answer is not None:
            ms[move.seat].append(round(move.answer.ms, 1))
    return LocalResult(
        game=game.number,
        seed=game.seed,
        bots=game.seats,
        scores=tuple(result["scores"]),
        ranks=tuple(result["ranks"]),
        reason=str(result["reason"]),
        forfeits=tuple(
            LocalForfeit(f.seat, f.before_move, str(f.reason), f.detail)
            for f in record.forfeits
        ),
        ms=tuple(tuple(times) for times in ms),
        memory=memory,
    )
