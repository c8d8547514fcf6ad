"""Positions as numbers for learning programs: observations, action ids, masks.

The action ids are the same for all ten rulesets and all numbers of seats. An
observation is what a seat can see, from its own point of view: the seat itself comes
first, then the others clockwise. `LAYOUT` and the ids are part of the interface: a
change of either would make trained programs useless.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from collections.abc import Iterator
from typing import Any

from engine.board import Board
from engine.cards import Cards
from engine.evaluation import FEATURES, Meter
from engine.kernel import Position
from engine.moves import (
    AP6,
    AP7,
    BUY,
    CARD_COUNT,
    CURRENT,
    DECISIONS,
    DECK_SIZE,
    DIAGONAL,
    DOOR_UP,
    END,
    FIRST,
    JUMP,
    KEEP,
    KEEPING,
    KING,
    MASTER_NAMES,
    MAX_STACKS,
    MOVE,
    MOVE_BLOCK,
    OVER,
    REGROUP,
    SCORE,
    STACK,
    STAY,
    STOCK,
    TURN,
    UNDER_KNIGHT,
    UP2,
)
from engine.rulesets import MAX_SEATS

Numbers = Any
"""An array of numbers: of the module `array`, or of numpy, with one dimension."""

SIZES = range(42)  # of stacks; two seats share at most 84 blocks
OUTCOMES = range(16)  # ways to leave blocks; only `rio-grande-2005` has more
SPACES_ON_BOARD = 64


_ONE = range(1)
_SPACES = range(SPACES_ON_BOARD)
_PAIRS = (MOVE, DIAGONAL, DOOR_UP, JUMP, MOVE_BLOCK, REGROUP, UP2)
_FIRST_NUMBERS = {
    **dict.fromkeys((BUY, AP6, AP7, SCORE, END, STOCK), _ONE),
    FIRST: range(MAX_SEATS),
    KEEP: range(CARD_COUNT),
    KING: range(STAY + 1),
    STACK: SIZES,
}
"""By kind of move: the values of its first number, if they are not all spaces."""
_SECOND_NUMBERS = {
    **dict.fromkeys(_PAIRS, _SPACES),
    **dict.fromkeys((END, STOCK), OUTCOMES),
    KEEP: range(2),
    UNDER_KNIGHT: (*SIZES[1:], CURRENT),
}
"""By kind of move: the values of its second number, if it has one."""


def _codes() -> Iterator[int]:
    """Yield the moves that have an id, in the order of the ids."""
    for kind in range(1, STOCK + 1):
        for a in _FIRST_NUMBERS.get(kind, _SPACES):
            for b in _SECOND_NUMBERS.get(kind, _ONE):
                if kind not in _PAIRS or _may_lead(kind, a, b):
                    yield kind << 16 | a << 8 | b


def _may_lead(kind: int, a: int, b: int) -> bool:
    """True if a kind of move with two spaces may ever lead from a to b."""
    columns = abs(a // 8 - b // 8)
    rows = abs(a % 8 - b % 8)
    if kind == UP2:
        return columns + rows == 1
    if kind == DIAGONAL:
        return columns == rows == 1
    if kind == JUMP:
        return sorted((columns, rows)) == [0, 2]
    return a != b  # MOVE, DOOR_UP, MOVE_BLOCK and REGROUP


ACTIONS = tuple(_codes())
"""The moves by their ids. An `end` or `stock` means a different string in different
positions; all other moves always mean the same one."""
ACTION_COUNT = len(ACTIONS)
MAX_LEGAL = 16_384
"""No position has more legal moves; the list of moves has no room for more."""

_PUBLIC = FEATURES.index("hand_ap6")  # features of a seat that everybody can see
_STACKS = 4  # sizes of stacks that are shown of a seat, the largest first

PLANES = ("heights", "areas", "king", *(f"knights_{s}" for s in range(MAX_SEATS)))
SEAT_NUMBERS = (*FEATURES[:_PUBLIC], "turn", *(f"stack_{i}" for i in range(_STACKS)))
LAYOUT: tuple[tuple[str, int], ...] = (
    *((plane, SPACES_ON_BOARD) for plane in PLANES),
    ("decision", len(DECISIONS)),
    ("course", 12),
    ("master", len(MASTER_NAMES)),
    ("hand", CARD_COUNT),
    ("fresh", CARD_COUNT),
    ("drawn", CARD_COUNT),
    *((f"seat_{s}", len(SEAT_NUMBERS) + CARD_COUNT) for s in range(MAX_SEATS)),
)
"""The parts of an observation in their order, with their lengths. docs/environments.md
explains them."""
OBSERVATION_SIZE = sum(length for _, length in LAYOUT)

_DECISION_COUNT = len(DECISIONS)
_MASTER_COUNT = len(MASTER_NAMES)
_SIZE = OBSERVATION_SIZE
_ACTIONS = ACTION_COUNT
_MAX_LEGAL = MAX_LEGAL
_NO_ID = 0x80C0  # bits of a move that its index leaves out
_BOARD = SPACES_ON_BOARD

if not cython.compiled:  # pragma: no branch - C has arrays
    _IDS = [-1] * ((STOCK + 1) << 13)
    _MOVES = [0] * ACTION_COUNT


def _fill_tables() -> None:
    for index in range((STOCK + 1) << 13):
        _IDS[index] = -1
    for number, move in enumerate(ACTIONS):
        _IDS[_index(move)] = number
        _MOVES[number] = move


def _index(move: int) -> int:
    """Return where the id of a move is stored."""
    return (move >> 16) << 13 | ((move >> 8) & 0x7F) << 6 | (move & 0x3F)


_fill_tables()


def id_of(move: int) -> int:
    """Return the id of a legal move; -1 for a way to leave blocks that has none."""
    # Only outcomes have such bits, and those that have one have no id.
    if move & _NO_ID:
        return -1
    return _IDS[_index(move)]


def _too_short(name: str, length: int) -> ValueError:
    return ValueError(f"{name} needs room for {length:,} numbers")


class Observer(Meter):
    """Writes observations and masks into arrays of the caller.

    The arrays have one dimension. An array that is too short, of another type or
    read-only raises ValueError; then nothing was written.
    """

    def __init__(self) -> None:
        super().__init__()
        self.at = 0

    def mask(self, position: Position, out: Numbers, start: int) -> int:
        """Mark the legal moves with 1 in 8-bit numbers, and return their number.

        `out` has `ACTION_COUNT` numbers from index `start` on, and the caller has set
        them to 0. Legal moves without an id are left out.
        """
        if start < 0 or start + _ACTIONS > len(out):
            raise _too_short("the mask", start + _ACTIONS)
        position.generate()
        moves = position.moves
        marked = 0
        for i in range(moves.count):
            action = id_of(moves.at(i))
            if action >= 0:
                out[start + action] = 1
                marked += 1
        return marked

    def observe_all(
        self,
        positions: list[Position],
        seats: Numbers,
        observations: Numbers,
        masks: Numbers,
        legal: Numbers,
        starts: Numbers,
    ) -> None:
        """Write the observation, the mask and the number of each seat that decides.

        The arrays have one row for each position; no game may be over. `masks` has to
        be 0 everywhere. The ids of the legal actions of position `p` are
        `legal[starts[p] : starts[p + 1]]`: `legal` has 16-bit numbers and room for
        `MAX_LEGAL` of them for each position, `starts` has 32-bit numbers.
        """
        games = len(positions)
        if len(seats) < games or len(starts) <= games:
            raise _too_short("seats or starts", games + 1)
        if len(observations) < games * _SIZE:
            raise _too_short("observations", games * _SIZE)
        if len(masks) < games * _ACTIONS:
            raise _too_short("masks", games * _ACTIONS)
        if len(legal) < games * _MAX_LEGAL:
            raise _too_short("legal", games * _MAX_LEGAL)
        for position in positions:
            if position.decision == OVER:
                raise ValueError("a game is over: nobody decides there")
        starts[0] = 0
        for row, position in enumerate(positions):
            seats[row] = position.seat
            self._observe(position, position.seat, observations, row * _SIZE)
            starts[row + 1] = self._mark(
                position, masks, row * _ACTIONS, legal, starts[row]
            )

    def _mark(
        self, position: Position, masks: Numbers, start: int, legal: Numbers, at: int
    ) -> int:
        """Mark the legal moves, list their ids from index `at` on; return its end."""
        position.generate()
        moves = position.moves
        for i in range(moves.count):
            action = id_of(moves.at(i))
            if action >= 0:
                masks[start + action] = 1
                legal[at] = action
                at += 1
        return at

    def step_all(
        self,
        positions: list[Position],
        actions: Numbers,
        masks: Numbers,
        legal: Numbers,
        starts: Numbers,
        finished: Numbers,
    ) -> int:
        """Play an action in each position, and set the marks in the masks back to 0.

        `actions` has 64-bit ids; `masks`, `legal` and `starts` what `observe_all`
        wrote. `finished` becomes 1 for the games that are over, and 0 for the others.
        Return -1, or the row of an illegal action; then nothing has changed.
        """
        games = len(positions)
        if len(actions) < games or len(finished) < games or len(starts) <= games:
            raise _too_short("actions, finished or starts", games + 1)
        if len(masks) < games * _ACTIONS:
            raise _too_short("masks", games * _ACTIONS)
        for row, position in enumerate(positions):
            action = actions[row]
            if not 0 <= action < _ACTIONS or not position.is_legal(_MOVES[action]):
                return row
        for row, position in enumerate(positions):
            # Only the marks are written again: a mask is much longer than their list.
            for i in range(max(starts[row], 0), min(starts[row + 1], len(legal))):
                # An item of a NumPy array counts in 16 bits, so a sum would overflow.
                mark = int(legal[i])
                if 0 <= mark < _ACTIONS:
                    masks[row * _ACTIONS + mark] = 0
            position.perform(_MOVES[actions[row]])
            finished[row] = position.decision == OVER
        return -1

    def observe(self, position: Position, seat: int, out: Numbers, start: int) -> None:
        """Write what a seat can see into an array of 32-bit floats.

        `out` has `OBSERVATION_SIZE` numbers from index `start` on; all are written.
        Raises ValueError for a seat that does not exist, too.
        """
        if start < 0 or start + _SIZE > len(out):
            raise _too_short("the observation", start + _SIZE)
        if not 0 <= seat < position.seats:
            raise ValueError(f"seat {seat} in a game with {position.seats} seats")
        self._observe(position, seat, out, start)

    def _observe(self, position: Position, seat: int, out: Numbers, start: int) -> None:
        for i in range(start, start + _SIZE):
            out[i] = 0.0
        self.at = start
        self._write_board(position.board, position.seats, seat, out)
        out[self.at + position.decision] = 1.0
        self.at += _DECISION_COUNT
        self._write_course(position, seat, out)
        if position.track.master >= 0:
            out[self.at + position.track.master] = 1.0
        self.at += _MASTER_COUNT
        self._write_cards(position, seat, out)
        for turn in range(position.seats):
            self._write_seat(position, (seat + turn) % position.seats, out)

    def _write_board(self, board: Board, seats: int, seat: int, out: Numbers) -> None:
        for space in range(_BOARD):
            out[self.at + space] = board.height[space]
        self.at += _BOARD
        for number in range(board.castles):
            area = board.area(board.castle[number])
            self._write_plane(board, board.castle[number], area, out)
        self.at += _BOARD
        if board.king >= 0:
            out[self.at + board.king] = 1.0
        self.at += _BOARD
        for turn in range(seats):
            knights = board.knights[(seat + turn) % seats]
            self._write_plane(board, knights, 1, out)
            self.at += _BOARD
        self.at += _BOARD * (MAX_SEATS - seats)

    def _write_plane(
        self, board: Board, spaces: int, number: int, out: Numbers
    ) -> None:
        while spaces:
            out[self.at + board.lowest(spaces)] = number
            spaces &= spaces - 1

    def _write_course(self, position: Position, seat: int, out: Numbers) -> None:
        at = self.at
        out[at] = position.seats
        out[at + 1] = position.phase
        out[at + 2] = position.round
        if position.phase > 0:
            out[at + 3] = len(position.phase_cards[position.phase - 1]) - position.round
        out[at + 4] = 1.0 if position.seat == seat else 0.0
        out[at + 5] = position.turn
        out[at + 6] = position.ap
        out[at + 7] = position.bought
        out[at + 8] = position.placed
        out[at + 9] = 1.0 if position.played else 0.0
        out[at + 10] = position.stock.current + 1
        out[at + 11] = position.stock.supply
        self.at = at + 12

    def _write_cards(self, position: Position, seat: int, out: Numbers) -> None:
        cards = position.cards
        for card in range(CARD_COUNT):
            out[self.at + card] = cards.hand[seat * CARD_COUNT + card]
        self.at += CARD_COUNT
        if position.seat == seat and position.decision in (TURN, KEEPING):
            for card in range(CARD_COUNT):
                out[self.at + card] = cards.fresh[card]
            for i in range(cards.draws):
                out[self.at + CARD_COUNT + cards.drawn[i]] += 1.0
        self.at += 2 * CARD_COUNT

    def _write_seat(self, position: Position, seat: int, out: Numbers) -> None:
        """Write the public features, the turn, the largest stacks and the discards."""
        self.measure(position, seat)
        for i in range(_PUBLIC):
            out[self.at + i] = self.row[i]
        self.at += _PUBLIC
        for turn in range(position.seats):
            if position.order[turn] == seat:
                out[self.at] = turn + 1
        self.at += 1
        stock = position.stock
        for i in range(min(_STACKS, stock.stacks[seat])):
            out[self.at + i] = stock.sizes[seat * MAX_STACKS + i]
        self.at += _STACKS
        self._write_discards(position.cards, seat, out)

    def _write_discards(self, cards: Cards, seat: int, out: Numbers) -> None:
        for i in range(cards.discards[seat]):
            out[self.at + cards.discard[seat * DECK_SIZE + i]] += 1.0
        self.at += CARD_COUNT
