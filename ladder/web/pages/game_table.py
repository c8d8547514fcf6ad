"""The table of a game as the server writes it: one position, and the list of turns.

The viewer takes both over. Without scripts, links lead from turn to turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString, mark_safe

from engine.documents import MoveEntry, Replay
from engine.errors import EngineError
from engine.game import TorresGame
from engine.replay_format import open_game
from torres.drawing.board_svg import board_markup
from torres.drawing.frames import LAST_OF_TURN, frame_after


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """The actions of one seat in succession; `first` and `last` are plies."""

    seat: int
    actions: list[str]
    last: int
    is_shown: bool


@dataclass(frozen=True, slots=True)
class GameTable:
    """One position of a game. `before` and `after` are the plies at the ends of turns.

    `asked` is true if the address names the ply. `last` is the number of actions. The
    board is empty if the present engine cannot play the game.
    """

    board: SafeString
    asked: bool
    ply: int
    last: int
    before: int | None
    after: int | None
    turns: list[ShownTurn]


def of_replay(replay: Replay, ply: int | None) -> GameTable:
    """Return the table of a finished game after `ply` actions, or after all."""

    def board(shown: int) -> str:
        moves, forfeits = replay["moves"], replay["forfeits"]
        try:
            frame = frame_after(open_game(replay), moves, forfeits, shown)
        except EngineError:  # it was played by an engine with other rules
            return ""
        return board_markup(frame)

    return _table(replay["moves"], ply, board)


def reached(table: GameTable) -> GameTable:
    """Return the table without the actions after the position that it shows."""
    ply = table.ply
    turns = [
        replace(turn, actions=turn.actions[: ply - turn.last], last=ply)
        if turn.last > ply
        else turn
        for turn in table.turns
        if turn.last - len(turn.actions) < ply
    ]
    return replace(table, turns=turns, last=ply)


def of_running(
    game: TorresGame, moves: Sequence[MoveEntry], ply: int | None
) -> GameTable:
    """Return the table of a running game. `game` is in its first position."""
    return _table(
        moves, ply, lambda shown: board_markup(frame_after(game, moves, ply=shown))
    )


def _table(
    moves: Sequence[MoveEntry], ply: int | None, board: Callable[[int], str]
) -> GameTable:
    last = sum(len(move["actions"]) for move in moves)
    shown = last if ply is None else min(ply, last)
    turns = _turns(moves, shown)
    ends = [0, *(turn.last for turn in turns)]
    return GameTable(
        # The markup has numbers and fixed names only.
        board=mark_safe(board(shown)),  # noqa: S308
        asked=ply is not None,
        ply=shown,
        last=last,
        before=max((end for end in ends if end < shown), default=None),
        after=min((end for end in ends if end > shown), default=None),
        turns=turns,
    )


def _turns(moves: Sequence[MoveEntry], shown: int) -> list[ShownTurn]:
    grouped: list[tuple[int, list[str]]] = []
    is_open = False
    for move in moves:
        if not is_open or grouped[-1][0] != move["seat"]:
            grouped.append((move["seat"], []))
        grouped[-1][1].extend(move["actions"])
        is_open = move["actions"][-1].split()[0] not in LAST_OF_TURN
    turns = []
    ply = 0
    for seat, actions in grouped:
        before, ply = ply, ply + len(actions)
        turns.append(ShownTurn(seat, actions, ply, before < shown <= ply))
    return turns
