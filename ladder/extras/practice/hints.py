"""Good turns for the person at the board: what a strong bot would do there."""

import time
from collections import Counter
from random import Random
from typing import NamedTuple

from engine.analysis import PROMISE
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY, KEEP, KING_DUE, Decision
from engine.notation import text
from engine.search import position_of
from engine.strategy import RoundSearches
from engine.turns import Turn

WIDTH = 200
"""The beam of the search. The house bot `master` has up to 500, in its own process."""
MAX_S = 1.5  # of the processor; an engine that is not compiled needs more
CANDIDATES = 200
SHOWN = 3
_MAX_SHARED = 0.5  # of the moves of two turns that are shown


class Hint(NamedTuple):
    """A turn that may be sent. `points` are what it brings now, without a scoring."""

    actions: list[str]
    points: int


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
    return [_hint(position, turn) for turn in _different(turns)]


def _different(turns: list[Turn]) -> list[Turn]:
    """Return the best turns of which no two share most of their moves."""
    chosen: list[Turn] = []
    for turn in turns:
        if turn.moves and not any(_shares(turn, other) for other in chosen):
            chosen.append(turn)
        if len(chosen) == SHOWN:
            break
    return chosen


def _shares(one: Turn, other: Turn) -> bool:
    common = (Counter(one.moves) & Counter(other.moves)).total()
    return common > _MAX_SHARED * min(len(one.moves), len(other.moves))


def _hint(position: Position, turn: Turn) -> Hint:
    """Return a turn as actions: only the first purchase, and that one at the end.

    What a purchase draws is not known before it is sent.
    """
    moves = turn.moves[:1] if position.decision == KING_DUE else turn.moves
    known = [
        move
        for number, move in enumerate(moves)
        if move >> 16 != BUY and (move >> 16 != KEEP or number == 0)
    ]
    after = position.copy()
    actions = []
    for move in known:
        actions.append(text(after, move))
        after.perform(move)
    if len(known) < len(moves):
        actions.append(text(after, BUY << 16))
    seat = position.seat
    return Hint(actions, after.track.scores[seat] - position.track.scores[seat])
