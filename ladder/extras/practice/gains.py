"""The points that actions gain: at once, and at the next scoring."""

from typing import NamedTuple

from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY, END, KEEPING, STOCK_DUE, TURN

_IN_A_PHASE = (STOCK_DUE, TURN, KEEPING)
_UNKNOWN = (BUY, END)
"""A purchase draws secret cards, and the end of a turn may be the scoring itself."""


class ActionGain(NamedTuple):
    """The points of a seat: `now`, and `later` at the next scoring.

    `later` is the change of castles, king's bonus and master card together, before the
    tie rule, if nothing else changes until then.
    """

    now: int
    later: int


def gains(game: TorresGame) -> list[ActionGain]:
    """Return the gain of each action in `game.legal()`, for the seat that decides."""
    if game.over:
        return []
    after = Position()
    result = []
    for move in game.position.legal():
        after.assign(game.position)
        if move >> 16 not in _UNKNOWN:
            after.perform(move)
        result.append(gain(game.position, after))
    return result


def gain(before: Position, after: Position) -> ActionGain:
    """Return what the seat that decides before gains until after."""
    seat = before.seat
    phase = before.phase + (before.decision not in _IN_A_PHASE)
    return ActionGain(
        after.track.scores[seat] - before.track.scores[seat],
        _worth(after, seat, phase) - _worth(before, seat, phase),
    )


def _worth(position: Position, seat: int, phase: int) -> int:
    """Return the points that a seat would get if `phase` were scored now."""
    track, board = position.track, position.board
    king = track.king(board, seat, phase) if board.king >= 0 else 0
    return track.castles(board, seat) + king + track.card(board, seat, phase)
