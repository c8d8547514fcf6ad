"""Good turns for the person at the board: what a strong bot would do there."""

import time
from random import Random
from typing import NamedTuple

from engine.analysis import PROMISE
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY, KING_DUE, Decision
from engine.notation import text
from engine.search import position_of
from engine.strategy import RoundSearches, different, in_order
from engine.turns import Turn
from ladder.extras.practice.gains import ActionGain, gain

WIDTH = 200
"""The beam of the search. The house bot `master` has up to 500, in its own process."""
MAX_S = 1.5  # of the processor; an engine that is not compiled needs more
CANDIDATES = 200
SHOWN = 3


class Hint(NamedTuple):
    """A turn that may be sent, and its points at once and at the next scoring."""

    actions: list[str]
    gain: ActionGain


def good_turns(game: TorresGame) -> list[Hint]:
    """Return up to three turns for the seat that decides, the best one first.

    The cards that the seat does not see are guessed from what it sees, so that a hint
    reveals nothing. Turns that do nearly the same are left out. The list is empty for
    decisions of the set-up, and if the search did not end in time.
    """
    seat, decision = game.seat, game.decision
    if seat is None or decision is None or not game.state(seat)["phase"]:
        return []
    if decision not in (Decision.TURN, Decision.KEEP, Decision.KING):
        return []
    rng = Random(game.ply)  # noqa: S311 - the same question gets the same hints
    position = position_of(game.rules, decision, game.state(seat), rng=rng)
    ends = time.process_time() + MAX_S
    search = RoundSearches(game.rules, PROMISE).of(position)
    turns = search.best(position, WIDTH, CANDIDATES, ends)
    return [_hint(position, turn) for turn in different(turns, SHOWN)]


def _hint(position: Position, turn: Turn) -> Hint:
    """Return a turn as actions. A purchase is last: what it draws is not known yet."""
    moves = turn.moves[:1] if position.decision == KING_DUE else in_order(turn.moves)
    after = position.copy()
    actions = []
    for move in moves:
        actions.append(text(after, move))
        if move >> 16 != BUY:
            after.perform(move)
    return Hint(actions, gain(position, after))
