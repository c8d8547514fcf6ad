"""The state: everything that a game consists of, and how it is copied.

It contains no rules. `legal.LegalMoves` adds the legal moves of the seat that decides,
and `kernel.Position` adds playing them.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.board import SHARED, Board
from engine.cards import Cards
from engine.editions import Stacks
from engine.moves import OVER
from engine.rulesets import MAX_SEATS
from engine.stock import Stock
from engine.track import Track


class State:
    """The board, the scoring track, the blocks, the cards, and who decides what."""

    def __init__(self) -> None:
        self.board = Board()
        self.track = Track()
        self.stock = Stock()
        self.cards = Cards()
        # The rules.
        self.seats = 0
        self.buy_draw = 0
        self.max_buys = 0
        self.max_blocks = 0
        self.largest = False
        self.keeps_blocks = False
        self.names_first = False
        self.ordering = 0
        self.phase_cards: Stacks = ()  # one for each phase: a size for each round
        # The game.
        self.decision = OVER
        self.seat = 0
        self.first = 0
        self.phase = 0
        self.round = 0
        self.turn = 0  # index in the order of the round
        self.setup_step = 0  # start blocks founded, or first knights entered, so far
        self.waiting = 0  # seats that still have to decide `stock`, one bit each
        self.turn_id = 0
        # The turn.
        self.ap = 0
        self.bought = 0
        self.placed = 0
        self.played = False
        self.moves = SHARED
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.order = [0] * MAX_SEATS
            self.reserve = [0] * MAX_SEATS

    def become(self, other: "State") -> None:
        """Become a copy of another state."""
        self.cards.assign(other.cards)
        self.become_with_same_cards(other)

    def become_with_same_cards(self, other: "State") -> None:
        """Become a copy of another state whose cards are the same already."""
        self.board.assign(other.board)
        self.track.assign(other.track)
        self.stock.assign(other.stock)
        self.seats = other.seats
        self.buy_draw = other.buy_draw
        self.max_buys = other.max_buys
        self.max_blocks = other.max_blocks
        self.largest = other.largest
        self.keeps_blocks = other.keeps_blocks
        self.names_first = other.names_first
        self.ordering = other.ordering
        self.phase_cards = other.phase_cards
        self.decision = other.decision
        self.seat = other.seat
        self.first = other.first
        self.phase = other.phase
        self.round = other.round
        self.turn = other.turn
        self.setup_step = other.setup_step
        self.waiting = other.waiting
        self.turn_id = other.turn_id
        self.ap = other.ap
        self.bought = other.bought
        self.placed = other.placed
        self.played = other.played
        for i in range(MAX_SEATS):
            self.order[i] = other.order[i]
            self.reserve[i] = other.reserve[i]
