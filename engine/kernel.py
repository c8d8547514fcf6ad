"""The kernel: a whole game in one mutable object, with moves as integers.

It plays a game from the set-up to the last scoring (rules 14-29, 60-70). It knows no
forfeits, strings or JSON, which game.py adds. moves.py defines how a move is written as
a number. Position extends LegalMoves, which extends State. The module is long because
all of a compiled class has to be in one module.
"""

from collections.abc import Callable

from engine.errors import IllegalAction
from engine.legal import LegalMoves
from engine.moves import (
    ADD,
    AP6,
    AP7,
    BLOCK,
    BUY,
    CARD_COUNT,
    CARD_IDS,
    CURRENT,
    END,
    ENTERING,
    EXTRA_BLOCK,
    FIRST_DUE,
    FOUNDING,
    KEEPING,
    KING_DUE,
    MARKED,
    MOVE,
    MOVE_BLOCK,
    NO_LIMIT,
    OVER,
    PLAY,
    SCORE,
    STACK,
    STAY,
    STOCK_DUE,
    TURN,
    UNDER_KNIGHT,
)
from engine.rulesets import (
    ACTION_POINTS,
    ADD_COST,
    BLOCKS,
    KNIGHTS,
    MASTERS,
    PHASES,
    START_BLOCKS,
    Rules,
)
from engine.setup import Setup

_ALL = 0xFFFFFFFFFFFFFFFF  # 64 bits
_SCRAMBLE = 0x2545F4914F6CDD1D  # the multiplier of xorshift64*
_FIXED, _LEADER, _DESCENDING = range(3)


class Position(LegalMoves):
    """One game from the first decision to the last scoring. `start` makes it.

    If `remember` is set, `undo` can take moves back; each `apply` then costs a copy.
    """

    def __init__(self) -> None:
        super().__init__()
        self.remember = False
        self.past: list[Position] = []

    def copy(self) -> "Position":
        """Return an independent copy. It cannot undo the moves played before."""
        other = Position()
        other.assign(self)
        return other

    def assign(self, other: "Position") -> None:
        """Become a copy of another position without making a new object."""
        self.become(other)

    def undo(self) -> None:
        """Take the last `apply` back. `remember` must have been set before it."""
        self.assign(self.past.pop())

    def legal(self) -> list[int]:
        """Return the legal moves in the ASCII order of their strings."""
        self.generate()
        return self.moves.listed()

    def allows(self, move: int) -> bool:
        """True if a move is legal now. `move` may be any number."""
        return self.is_legal(move)

    def outcomes(self, kind: int) -> int:
        """Return the number of ways to distribute left-over blocks (rules 27, 28).

        `kind` is END or STOCK. The number is 0 if that kind of move is not legal.
        """
        return self.ways(kind)

    # Playing

    def apply(self, move: int) -> None:
        """Play a move. Raises IllegalAction if it is not legal now."""
        if not self.is_legal(move):
            raise IllegalAction(move, "this move is not legal now")
        if self.remember:
            self.past.append(self.copy())
        self.perform(move)

    def attempt(self, move: int) -> bool:
        """Play a move if it is legal now, and return True; otherwise return False."""
        if not self.is_legal(move):
            return False
        self.perform(move)
        return True

    def follow(
        self,
        entries: list[object],
        number: int,
        moves: dict[str, int],
        read: Callable[["Position", str], int | None],
    ) -> int:
        """Play a replay's entries from index `number` until a phase or the list ends.

        Return the index of the next entry, or -1 if an entry may be wrong; then the
        position is undefined. `moves` maps strings to moves; `read` returns the move of
        a string that is not in `moves`, or None.
        """
        while number < len(entries):
            entry = entries[number]
            if type(entry) is not dict or "auto" in entry:
                return -1
            if not self._follow_one(
                entry.get("seat"), entry.get("actions"), moves, read
            ):
                return -1
            number += 1
            if self.decision in (KING_DUE, OVER):
                break
        return number

    def _follow_one(
        self,
        seat: object,
        actions: object,
        moves: dict[str, int],
        read: Callable[["Position", str], int | None],
    ) -> bool:
        """Play one answer and return True; False if it may be wrong.

        An answer belongs to one turn, and nothing may follow a purchase in it.
        """
        if type(seat) is not int or seat != self.seat or type(actions) is not list:
            return False
        turn = self.turn_id
        kind = 0
        for action in actions:
            if type(action) is not str or turn != self.turn_id or kind == BUY:
                return False
            move = moves.get(action)
            if move is None and action == "end" and self.ways(END) == 1:
                move = END << 16
            elif move is None:
                move = read(self, action)
            if move is None or not self.attempt(move):
                return False
            kind = move >> 16
        return kind != 0  # an answer has at least one action

    def playout(self, seed: int) -> int:
        """Play random moves to the end, and return their number.

        Equal seeds give equal games. The generator is xorshift64*, so that compiled and
        plain code play the same game.
        """
        state = (seed & _ALL) | 1
        moves = 0
        while self.decision != OVER:
            self.generate()
            state ^= state >> 12
            state ^= (state << 25) & _ALL
            state ^= state >> 27
            draw = ((state * _SCRAMBLE) & _ALL) >> 33
            self.perform(self.moves.at(draw % self.moves.count))
            moves += 1
        return moves

    def perform(self, move: int) -> None:
        """Play a move that is known to be legal now, without any check."""
        a = (move >> 8) & 0xFF
        decision = self.decision
        if decision == TURN:
            self._act(move >> 16, a, move & 0xFF, move & 0xFFFF)
        elif decision == KEEPING:
            self.cards.keep(self.seat, a, move & 0xFF)
            self.decision = TURN
        elif decision == KING_DUE:
            self._king(a)
        elif decision == FIRST_DUE:
            self._open_phase(a)
        elif decision == STOCK_DUE:
            self._settle_carried(self.seat, move & 0xFFFF)
            self._next_stock()
        elif decision == ENTERING:
            self._enter(a)
        else:
            self._found(a)

    def _act(self, kind: int, a: int, b: int, outcome: int) -> None:
        """Play one action of a turn (rules 30-54)."""
        board = self.board
        if kind == MOVE:
            self.ap -= 1
            self._carry(a, b)
        elif kind == BLOCK:
            self.ap -= 1
            self.placed += 1
            self.stock.current -= 1
            board.place(a)
        elif kind == END:
            self._end_turn(outcome)
        elif kind == SCORE:
            self.ap -= 1
            self.track.gain(self.seat, 1)
        elif kind == ADD:
            self.ap -= ADD_COST
            self.reserve[self.seat] -= 1
            board.drop(self.seat, a)
        elif kind == BUY:
            self._buy()
        elif kind == STACK:
            self.stock.take(self.seat, a)
        else:
            self._play(kind, a, b)

    def _carry(self, source: int, target: int) -> None:
        self.board.lift(self.seat, source)
        self.board.drop(self.seat, target)

    def _buy(self) -> None:
        self.ap -= 1
        self.bought += 1
        if self.buy_draw == 1:
            self.cards.buy(self.seat)
        else:
            self.cards.draw(self.seat)
            self.decision = KEEPING

    def _play(self, kind: int, a: int, b: int) -> None:
        """Play a card (rules 51-53). Its effect costs no action points (D-13)."""
        self.cards.play(self.seat, kind - PLAY)
        self.played = True
        if kind == AP6:
            self.ap += 1
        elif kind == AP7:
            self.ap += 2
        elif kind == EXTRA_BLOCK:
            self.stock.supply -= 1
            self.board.place(a)
        elif kind == UNDER_KNIGHT:
            if b == CURRENT:
                self.stock.current -= 1
            else:
                self.stock.shrink(self.seat, b)
            self.board.place(a)
        elif kind == MOVE_BLOCK:
            self.board.move_block(a, b)
        else:
            self._carry(a, b)

    # The course of the game

    def set_up(self, rules: Rules, setup: Setup) -> None:
        """Set a new game up, and ask for its first decision (rules 14-20, 65, 69)."""
        self.seats = rules.seats
        self.buy_draw = rules.buy_draw
        self.max_buys = _limit(rules.max_buys)
        self.max_blocks = _limit(rules.max_blocks_per_turn)
        self.largest = rules.stack_choice == "largest"
        self.keeps_blocks = rules.leftover_at_phase_end == "keep"
        self.ordering = _ORDERINGS.index(rules.order)
        fixed = rules.order == "fixed"
        self.names_first = fixed and rules.next_start == "lowest_chooses"
        self.phase_cards = rules.stacks
        self.stock.limit = _limit(rules.stack_limit)
        self.stock.automatic = rules.leftover_distribution == "auto"
        self.stock.supply = BLOCKS
        self._lay_cards(rules, setup)
        self._begin(setup.first, rules.start_blocks == "marked")

    def _lay_cards(self, rules: Rules, setup: Setup) -> None:
        """Lay the decks or deal full hands, and the master card (rules 20, 68, 69)."""
        self.cards.decks = len(setup.decks)
        for pile, deck in enumerate(setup.decks):
            self.cards.lay(pile, [CARD_IDS[name] for name in deck])
        if rules.card_access == "full_hand":
            for seat in range(rules.seats):
                for card in range(CARD_COUNT):
                    self.cards.give(seat, card, 1)
        self.track.seats = rules.seats
        self.track.all_six = rules.master_all_six
        self.track.contiguous = rules.row_contiguous
        self.track.tilted = rules.tilted_squares
        if setup.master is not None:
            self.track.master = MASTERS.index(setup.master)

    def _begin(self, first: int, marked: bool) -> None:  # noqa: FBT001 - a switch
        """Give out the knights, and place the start blocks if marked (rules 3, 14-16).

        Otherwise the first seat is asked to place one (rule 65).
        """
        self.first = first
        self._clockwise(first)
        for seat in range(self.seats):
            self.reserve[seat] = KNIGHTS
        if marked:
            for space in MARKED:
                self.board.place(space)
            self.stock.supply -= START_BLOCKS
        self._ask(ENTERING if marked else FOUNDING, first)

    def _ask(self, decision: int, seat: int) -> None:
        self.decision = decision
        self.seat = seat
        self.turn_id += 1

    def _clockwise(self, first: int) -> None:
        for turn in range(self.seats):
            self.order[turn] = (first + turn) % self.seats

    def _found(self, space: int) -> None:
        """Place a start block; the eighth is followed by the knights (rules 65, 67)."""
        self.stock.supply -= 1
        self.board.place(space)
        self.setup_step += 1
        if self.setup_step == START_BLOCKS:
            self.setup_step = 0
            self._ask(ENTERING, self.first)
        else:
            self._ask(FOUNDING, (self.first + self.setup_step) % self.seats)

    def _enter(self, space: int) -> None:
        """Put a seat's first knight on a castle (rules 17, 67).

        The last seat is then asked for the king (rule 18).
        """
        self.board.drop(self.seat, space)
        self.reserve[self.seat] -= 1
        self.setup_step += 1
        if self.setup_step == self.seats:
            self._ask(KING_DUE, self.seat)
        else:
            self._ask(ENTERING, self.order[self.setup_step])

    def _king(self, space: int) -> None:
        """Place the king (rules 18, 60), then decide who starts the phase (rule 61)."""
        if space != STAY:
            self.board.crown(space)
        if self.phase == 0:
            self._open_phase(self.first)
        elif self.names_first:
            self._ask(FIRST_DUE, self.seat)
        else:
            self._open_phase(self.seat)

    def _open_phase(self, first: int) -> None:
        """Deal the next phase's stacks and the blocks carried over (rules 24, 28, 62).

        1. Set the order of the seats.
        2. Deal the same stacks to every seat.
        3. Distribute the carried blocks of each seat that has one way to do so.
        4. Ask the other seats one after the other; then begin the first turn.

        Knights, cards and decks stay as they are (rule 63).
        """
        self.phase += 1
        if self.ordering == _FIXED:
            self.first = first
            self._clockwise(first)
        self._open_round(1)
        for seat in range(self.seats):
            for size in self.phase_cards[self.phase - 1]:
                self.stock.deal(seat, size)
        self.waiting = 0
        for seat in range(self.seats):
            if self.stock.outcomes(seat, self.stock.carried[seat]) > 1:
                self.waiting |= 1 << seat
            else:
                self._settle_carried(seat, 0)
        self._next_stock()

    def _settle_carried(self, seat: int, number: int) -> None:
        self.stock.settle(seat, self.stock.carried[seat], number)
        self.stock.carried[seat] = 0
        self.waiting &= ~(1 << seat)

    def _next_stock(self) -> None:
        """Ask the next seat that has a choice of stacks, clockwise from the first seat.

        If no seat is left, begin the first turn.
        """
        for turn in range(self.seats):
            seat = (self.first + turn) % self.seats
            if (self.waiting >> seat) & 1:
                self._ask(STOCK_DUE, seat)
                return
        self._begin_turn()

    def _open_round(self, number: int) -> None:
        """Open a round and set its order (rules 23, 70, D-22).

        While all scores are 0 the order of the previous round stays.
        """
        self.round = number
        self.turn = 0
        if self.ordering == _FIXED or self._nobody_scored():
            return
        if self.ordering == _LEADER:
            leader = 0
            for seat in range(self.seats):
                if self.track.scores[seat] > self.track.scores[leader]:
                    leader = seat
            self._clockwise(leader)
        else:
            self._clockwise(self.first)
            self._sort_order()
        self.first = self.order[0]

    def _nobody_scored(self) -> bool:
        for seat in range(self.seats):  # noqa: SIM110 - as a loop it compiles to C
            if self.track.scores[seat]:
                return False
        return True

    def _sort_order(self) -> None:
        """Sort the order by score, highest first; equal scores keep their order."""
        scores = self.track.scores
        for turn in range(1, self.seats):
            seat = self.order[turn]
            i = turn
            while i > 0 and scores[seat] > scores[self.order[i - 1]]:
                self.order[i] = self.order[i - 1]
                i -= 1
            self.order[i] = seat

    def _begin_turn(self) -> None:
        """Begin the turn of the next seat, with 5 action points (rules 23, 30)."""
        self._ask(TURN, self.order[self.turn])
        self.ap = ACTION_POINTS
        self.cards.begin(self.seat)
        self.stock.begin(self.seat, self.largest)

    def _end_turn(self, outcome: int) -> None:
        """End a turn, then open the next turn, round or phase.

        The blocks left on the current stack are distributed, returned or carried over
        (rules 27, 28); unused action points are lost (rule 30). A phase ends with the
        last turn of its last round (rule 29).
        """
        stock = self.stock
        rounds = len(self.phase_cards[self.phase - 1])
        if self.round == rounds and self.keeps_blocks:
            stock.carried[self.seat] = stock.current
        else:
            stock.settle(self.seat, stock.current, outcome)
        stock.current = -1
        self.cards.end()
        self.ap = 0
        self.bought = 0
        self.placed = 0
        self.played = False
        self.turn += 1
        if self.turn == self.seats and self.round == rounds:
            self._end_phase()
            return
        if self.turn == self.seats:
            self._open_round(self.round + 1)
        self._begin_turn()

    def _end_phase(self) -> None:
        """Score the phase; then ask the lowest seat for the king, or end the game.

        See rules 60, 64 and 71.
        """
        self.track.score_phase(self.board, self.phase, self.first)
        if self.phase == PHASES:
            self._ask(OVER, -1)
        else:
            self._ask(KING_DUE, self.lowest())

    def lowest(self) -> int:
        """Return the lowest seat; of equal ones the last in the round's order (D-7)."""
        lowest_seat = self.order[0]
        for turn in range(1, self.seats):
            seat = self.order[turn]
            if self.track.scores[seat] <= self.track.scores[lowest_seat]:
                lowest_seat = seat
        return lowest_seat


_ORDERINGS = ("fixed", "leader", "descending")


def _limit(number: int | None) -> int:
    """Return a switch's number as the kernel uses it: null becomes `NO_LIMIT`."""
    return NO_LIMIT if number is None else min(number, NO_LIMIT)


def start(rules: Rules, setup: Setup) -> Position:
    """Return the position before the first decision of a game."""
    position = Position()
    position.set_up(rules, setup)
    return position
