"""The legal moves of the seat that decides (rules 25-61): list them, or judge one.

Listing and judging use the same methods, so that each rule is written once. The most
important ones are `_spaces`, the spaces that a kind of move may name first, and
`_goals`, the spaces that it may name second.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.board import MoveList
from engine.moves import (
    ADD,
    AP6,
    AP7,
    BLOCK,
    BUY,
    CARD_COUNT,
    CURRENT,
    DIAGONAL,
    DOOR_UP,
    END,
    ENTER,
    ENTERING,
    EXTRA_BLOCK,
    FIRST,
    FIRST_DUE,
    FOUND,
    FOUNDING,
    JUMP,
    KEEP,
    KEEPING,
    KING,
    KING_DUE,
    MOVE,
    MOVE_BLOCK,
    PLAY,
    REGROUP,
    SCORE,
    STACK,
    STAY,
    STOCK,
    STOCK_DUE,
    TURN,
    UNDER_KNIGHT,
    UP2,
)
from engine.rulesets import ADD_COST
from engine.state import State


class LegalMoves(State):
    """A state and its legal moves."""

    def is_legal(self, move: int) -> bool:
        """True if a move is legal now. `move` may be any number."""
        if not 0 < move < (STOCK + 1) << 16:
            return False
        kind = move >> 16
        a = (move >> 8) & 0xFF
        b = move & 0xFF
        if kind in (END, STOCK):
            return (move & 0xFFFF) < self.ways(kind)
        if a > STAY or b >= STAY:
            return False
        if kind in (MOVE, UNDER_KNIGHT) or self._is_goal_card(kind):
            return a < STAY and self._allows_pair(kind, a, b)
        if kind == KEEP:
            return self.decision == KEEPING and self.cards.can_keep(self.seat, a, b)
        return b == 0 and self._allows_single(kind, a)

    def _allows_pair(self, kind: int, a: int, b: int) -> bool:
        if not (self._spaces(kind) >> a) & 1:
            return False
        if kind == UNDER_KNIGHT:
            return self._may_use(b)
        return (self._goals(kind, a) >> b) & 1 == 1

    def _allows_single(self, kind: int, a: int) -> bool:
        if kind in (BUY, SCORE, AP6, AP7):
            return a == 0 and self._ready(kind)
        if kind == STACK:
            return a < STAY and self._may_take(a)
        if kind == FIRST:
            return self.decision == FIRST_DUE and a < self.seats
        if a == STAY:
            return kind == KING and self._may_stay()
        return (self._spaces(kind) >> a) & 1 == 1

    def _is_goal_card(self, kind: int) -> bool:
        return kind in (UP2, DIAGONAL, JUMP, REGROUP, DOOR_UP, MOVE_BLOCK)

    def _ready(self, kind: int) -> bool:
        """True if a move without arguments is legal (rules 47-54)."""
        if self.decision != TURN:
            return False
        if kind == BUY:
            allowed = self.bought < self.max_buys and self.cards.can_buy(self.seat)
            return self.ap > 0 and allowed
        if kind == SCORE:
            return self.ap > 0
        return self._may_play(kind)

    def _may_play(self, kind: int) -> bool:
        """True if the card may be played, whatever its effect (rules 49, 51).

        One card a turn may be played, and none that was bought this turn.
        """
        if self.played or self.decision != TURN:
            return False
        return (self.cards.ready >> (kind - PLAY)) & 1 == 1

    def _may_take(self, size: int) -> bool:
        """True if a stack of that size may become the turn's only one (rule 25)."""
        if self.decision != TURN or self.stock.current >= 0:
            return False
        return self.stock.has(self.seat, size)

    def _may_use(self, size: int) -> bool:
        """True if UNDER_KNIGHT may take a block from a stack of that size (D-16)."""
        if size == CURRENT:
            return self.stock.current > 0
        return size > 0 and self.stock.has(self.seat, size)

    def _may_stay(self) -> bool:
        """True if the king may be left where he stands (rule 60)."""
        return self.decision == KING_DUE and self.phase > 0

    def ways(self, kind: int) -> int:
        """Return the number of ways to distribute left-over blocks (rules 27, 28).

        `kind` is END or STOCK. The number is 0 if that kind of move is not legal.
        """
        if kind == STOCK:
            if self.decision != STOCK_DUE:
                return 0
            return self.stock.outcomes(self.seat, self.stock.carried[self.seat])
        if self.decision != TURN or self.stock.current < 0:
            return 0
        return self.stock.outcomes(self.seat, self.stock.current)

    def _spaces(self, kind: int) -> int:
        """Return the spaces that a kind of move may name first (rules 31-52)."""
        if self.decision != TURN:
            return self._piece_spaces(kind)
        board = self.board
        if kind == MOVE:
            return board.knights[self.seat] if self.ap > 0 else 0
        if kind == BLOCK:
            return board.block() if self._has_block() else 0
        if kind == ADD:
            affordable = self.ap >= ADD_COST and self.reserve[self.seat] > 0
            return board.add(self.seat) if affordable else 0
        return self._card_spaces(kind)

    def _has_block(self) -> bool:
        """True if the seat may place an ordinary block (rules 25, 26)."""
        if self.ap < 1 or self.placed >= self.max_blocks:
            return False
        return self.stock.current > 0

    def _piece_spaces(self, kind: int) -> int:
        if kind == FOUND and self.decision == FOUNDING:
            return self.board.found()
        if kind == ENTER and self.decision == ENTERING:
            return self.board.roofs()
        if kind == KING and self.decision == KING_DUE:
            return self.board.roofs()
        return 0

    def _card_spaces(self, kind: int) -> int:
        """Return the spaces that playing a card may name first (rules 52, 53)."""
        if kind < PLAY or kind >= PLAY + CARD_COUNT or not self._may_play(kind):
            return 0
        if kind == EXTRA_BLOCK:
            return self.board.block() if self.stock.supply > 0 else 0
        if kind == UNDER_KNIGHT:
            return self.board.under_knight(self.seat)
        if kind == MOVE_BLOCK:
            return self.board.loose()
        return self.board.knights[self.seat]

    def _goals(self, kind: int, space: int) -> int:
        """Return the spaces that a kind of move may name second, after `space`.

        A card without such a space has no effect and is not played (rule 53).
        """
        board = self.board
        if kind == MOVE:
            return board.walk(space)
        if kind == UP2:
            return board.up2(space)
        if kind == DIAGONAL:
            return board.diagonal(space)
        if kind == JUMP:
            return board.jump(space)
        if kind == REGROUP:
            return board.regroup(self.seat, space)
        return board.door_up(space) if kind == DOOR_UP else board.move_block_from(space)

    # Listing

    def generate(self) -> None:
        """Fill `moves` with the legal moves, in the ASCII order of their strings."""
        # The compiled kernel shares one list: no other thread can run in between. Plain
        # Python may switch threads at any line, so each call needs a list of its own.
        if not cython.compiled:  # pragma: no branch - see above
            self.moves = MoveList()
        self.moves.count = 0
        if self.decision == TURN:
            self._list_turn()
        elif self.decision == KEEPING:
            self._list_keeps()
        elif self.decision == FIRST_DUE:
            for seat in range(self.seats):
                self.moves.add(FIRST << 16 | seat << 8)
        elif self.decision == STOCK_DUE:
            self._emit_outcomes(STOCK)
        else:
            self._emit_spaces(FOUND)
            self._emit_spaces(ENTER)
            self._emit_spaces(KING)
            if self._may_stay():
                self.moves.add(KING << 16 | STAY << 8)

    def _list_keeps(self) -> None:
        for card in range(CARD_COUNT):
            for deck_end in range(2):
                if self.cards.can_keep(self.seat, card, deck_end):
                    self.moves.add(KEEP << 16 | card << 8 | deck_end)

    def _list_turn(self) -> None:
        self._emit_spaces(ADD)
        self._emit_spaces(BLOCK)
        self._emit_plain(BUY)
        self._emit_outcomes(END)
        self._emit_pairs(MOVE)
        if self.cards.ready and not self.played:
            for card in range(CARD_COUNT):
                if (self.cards.ready >> card) & 1:
                    self._list_card(PLAY + card)
        self._emit_plain(SCORE)
        if self.stock.current < 0:
            for rank in range(STAY):
                size = self.stock.by_digits(rank)
                if self._may_take(size):
                    self.moves.add(STACK << 16 | size << 8)

    def _list_card(self, kind: int) -> None:
        if kind in (AP6, AP7):
            self._emit_plain(kind)
        elif kind == EXTRA_BLOCK:
            self._emit_spaces(kind)
        elif kind == UNDER_KNIGHT:
            knights = self._spaces(kind)
            while knights:
                self._list_under(self.board.lowest(knights))
                knights &= knights - 1
        else:
            self._emit_pairs(kind)

    def _list_under(self, space: int) -> None:
        for rank in range(CURRENT + 1):
            size = self.stock.by_digits(rank)
            if size < CURRENT and self._may_use(size):
                self.moves.add(UNDER_KNIGHT << 16 | space << 8 | size)
        if self._may_use(CURRENT):
            self.moves.add(UNDER_KNIGHT << 16 | space << 8 | CURRENT)

    def _emit_plain(self, kind: int) -> None:
        if self._ready(kind):
            self.moves.add(kind << 16)

    def _emit_outcomes(self, kind: int) -> None:
        for number in range(self.ways(kind)):
            self.moves.add(kind << 16 | number)

    def _emit_spaces(self, kind: int) -> None:
        self.moves.add_spaces(kind << 16, self._spaces(kind), 8)

    def _emit_pairs(self, kind: int) -> None:
        spaces = self._spaces(kind)
        while spaces:
            space = self.board.lowest(spaces)
            spaces &= spaces - 1
            self.moves.add_spaces(kind << 16 | space << 8, self._goals(kind, space), 0)
