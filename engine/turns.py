"""The best whole turns of a seat, found by one call.

A turn is a plan: a knight climbs, a block raises another one, and only the last action
brings the points. A search of whole turns therefore needs a wide beam, and thousands of
positions. No Python runs for a single one of them here.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

import math
import time
from array import array
from heapq import heappush, heapreplace
from typing import Any, NamedTuple

from engine.evaluation import (
    Evaluator,
    Weights,
    cards_key,
    check_seat,
    key_of,
    key_with,
)
from engine.kernel import Position
from engine.moves import (
    ADD,
    BLOCK,
    BORDER,
    BUY,
    DIAGONALS,
    END,
    MOVE,
    SCORE,
    STACK,
    TURN,
)
from engine.rulesets import MAX_SEATS, PHASES

_RIVALS = PHASES + 1  # the first row of weights of the rivals
_ALL = 0xFFFFFFFFFFFFFFFF  # 64 bits: all spaces
_NOTHING = -math.inf  # less than each value
_SLOTS = 1 << 17  # of the table of known positions; a power of 2
# A beam of one position uses this part of the table, which fits the cache of a
# processor. A beam that is twice as wide uses twice as much.
_SLOTS_FOR_ONE = 1 << 13


_Ranked = tuple[float, int, int, int]  # rank, key, number of the position before, move
_Found = tuple[float, int, tuple[int, ...], int]  # value, key, moves before, move


class Turn(NamedTuple):
    """A turn that a search found."""

    value: float
    """The value of the position after it, for the seat whose turn it is."""
    key: int
    moves: tuple[int, ...]
    """The moves without `end`; none if it is best to end at once."""
    position: Position
    """The position after the moves: the turn can end, or another seat decides."""


class TurnSearch:
    """Finds the best turns with a beam.

    Level after level, all moves are played in the `width` best positions. A position in
    the middle of a turn is as good as its value and its promise: the sum of the own
    features, multiplied by the weights `promise`. These weights say what the turn can
    still gain, for example with the action points that are left. They are rows for the
    set-up and the phases, as those of an `Evaluator`. Only one thread may use a search
    at a time.
    """

    def __init__(self, evaluator: Evaluator, promise: Weights) -> None:
        self.evaluator = evaluator
        self.promise = Evaluator(promise, [{}] * len(promise))
        self.child = Position()
        self.known = array("Q", bytes(8 * _SLOTS))
        self.searches = 0
        self.last_slot = 0
        self.width = 0
        self.limit = 0
        self.ranked: list[_Ranked] = []
        self.found: list[_Found] = []
        self.value = 0.0
        self.rank = 0.0
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.totals = [0.0] * MAX_SEATS

    def best(
        self, position: Position, width: int, limit: int, ends: float = math.inf
    ) -> list[Turn]:
        """Return the best turns of the seat that decides, at most `limit`, best first.

        Turns that lead to equal positions are returned once. The search stops when
        `time.process_time()` exceeds `ends`; if that is before the first turn was
        found, the list is empty. Raises ValueError if the game is over, or for a width
        or a limit below 1.
        """
        seat = position.seat
        check_seat((position,), seat)
        if width < 1 or limit < 1:
            raise ValueError(f"width {width}, limit {limit}: both must be at least 1")
        self.width = width
        self.limit = limit
        self.found = []
        self.searches += 1
        slots = _SLOTS_FOR_ONE << (width - 1).bit_length()
        self.last_slot = min(_SLOTS, slots) - 1
        if _may_end(position, seat):
            value = self.evaluator.value(position, seat)
            self.found.append((value, key_of(position), (), 0))
        beam: list[tuple[Position, tuple[int, ...]]] = [(position, ())]
        while beam:
            self.ranked = []
            for number, (before, moves) in enumerate(beam):
                if time.process_time() > ends:
                    return self._turns(position)
                self._expand(before, number, moves)
            level = []
            for _, _, number, move in sorted(self.ranked, reverse=True):
                before, moves = beam[number]
                after = before.copy()
                after.perform(move)
                level.append((after, (*moves, move)))
            beam = level
        return self._turns(position)

    def _is_known(self, key: int) -> bool:
        """True if a position with this key was seen; from now on it has been.

        A slot keeps the last position only, so that a few positions are seen again.
        Entries of another search differ in the number of the search.
        """
        slot = key & self.last_slot
        entry = key ^ self.searches
        if self.known[slot] == entry:
            return True
        self.known[slot] = entry
        return False

    def _expand(self, before: Position, number: int, moves: tuple[int, ...]) -> None:
        """Play all moves, and put what they reach into the two heaps."""
        seat = before.seat
        worst = _least(self.ranked, self.width)
        least = _least(self.found, self.limit)
        self._weigh_rivals(before, seat)
        before.generate()
        listed = before.moves
        child = self.child
        cards = cards_key(before)
        same_cards = False
        for i in range(listed.count):
            move = listed.at(i)
            kind = move >> 16
            if kind == END:
                continue
            if same_cards:
                child.become_with_same_cards(before)
            else:
                child.assign(before)
            child.perform(move)
            same_cards = kind in (ADD, BLOCK, MOVE, SCORE, STACK)
            key = key_with(child, cards) if same_cards else key_of(child)
            if self._is_known(key):
                continue
            self._judge(child, seat, before, kind)
            if self.rank > worst and _goes_on(child, seat):
                worst = _offer(self.ranked, self.width, (self.rank, key, number, move))
            if self.value > least and _may_end(child, seat):
                least = _offer(self.found, self.limit, (self.value, key, moves, move))

    def _weigh_rivals(self, before: Position, seat: int) -> None:
        """Set the totals that rivals keep if a move does nothing near their knights."""
        for other in range(before.seats):
            if other != seat:
                self.totals[other] = self._total(before, other)

    def _total(self, position: Position, rival: int) -> float:
        """Return the weighted sum of a rival's features."""
        self.evaluator.measure(position, rival)
        return self.evaluator.total(self.evaluator, _RIVALS + position.phase)

    def _judge(
        self, position: Position, seat: int, before: Position, kind: int
    ) -> None:
        """Set the value of a position and its rank in the beam."""
        evaluator = self.evaluator
        row = position.phase
        changed = _changed(position, before, kind)
        rival = _NOTHING
        for other in range(position.seats):
            if other == seat:
                continue
            total = self.totals[other]
            if changed == _ALL or position.board.knights[other] & changed:
                total = self._total(position, other)
            if total > rival:  # noqa: PLR1730 - max() would not compile to C
                rival = total
        evaluator.measure(position, seat)
        self.value = evaluator.total(evaluator, row) - rival
        self.rank = self.value + self.promise.total(evaluator, row)

    def _turns(self, position: Position) -> list[Turn]:
        """Return the turns that were found, best first, each position once."""
        unique = {entry[1]: entry for entry in self.found}
        turns = []
        for value, key, before, move in sorted(unique.values(), reverse=True):
            moves = (*before, move) if move else before
            after = position.copy()
            for one in moves:
                after.perform(one)
            turns.append(Turn(value, key, moves, after))
        return turns


def _changed(position: Position, before: Position, kind: int) -> int:
    """Return the spaces on which rivals' knights may be worth more or less than before.

    These are all if the move changes more than a board: the set-up of a phase, or what
    is left of a deck. Two master cards compare the knights of all seats (rule 72, M1
    and M2).
    """
    compares = before.track.master in (BORDER, DIAGONALS)
    if before.decision != TURN or kind == BUY or compares:
        return _ALL
    return position.board.changed(before.board)


def _least(heap: list[Any], size: int) -> float:
    """Return what an entry has to exceed to enter a heap of the best."""
    return heap[0][0] if len(heap) == size else _NOTHING


def _offer(heap: list[Any], size: int, entry: tuple[Any, ...]) -> float:
    """Put an entry into a heap; return what the next one has to exceed."""
    if len(heap) < size:
        heappush(heap, entry)
    else:
        heapreplace(heap, entry)
    return _least(heap, size)


def _may_end(position: Position, seat: int) -> bool:
    """True if the turn may end, or another seat decides."""
    if position.seat != seat:
        return True
    return position.decision == TURN and position.stock.current >= 0


def _goes_on(position: Position, seat: int) -> bool:
    """True if the seat decides and may still have something to do."""
    if position.seat != seat:
        return False
    if position.decision != TURN or position.ap > 0 or position.stock.current < 0:
        return True
    return not position.played and position.cards.ready != 0
