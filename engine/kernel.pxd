cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport Board
from engine.legal cimport LegalMoves

cdef int ADD, AP6, AP7, BLOCK, BUY, CURRENT, END, ENTERING, EXTRA_BLOCK
cdef int FIRST_DUE, FOUNDING, KEEPING, KING_DUE, MOVE, MOVE_BLOCK, OVER, PLAY
cdef int SCORE, STACK, STAY, STOCK_DUE, TURN, UNDER_KNIGHT
cdef int ACTION_POINTS, ADD_COST, CARD_COUNT, KNIGHTS, NO_LIMIT, PHASES
cdef int START_BLOCKS, _FIXED, _LEADER, _DESCENDING
cdef uint64_t _ALL, _SCRAMBLE


@cython.final
cdef class Position(LegalMoves):
    cdef public bint remember
    cdef public list past

    cpdef Position copy(self)
    cpdef void assign(self, Position other) noexcept
    cpdef undo(self)
    cpdef list legal(self)
    cpdef bint allows(self, long long move)
    cpdef int outcomes(self, int kind)
    cpdef apply(self, long long move)
    cpdef bint attempt(self, long long move) noexcept
    cpdef int follow(self, list entries, int number, dict moves, read)
    @cython.locals(turn=int, kind=int)
    cdef bint _follow_one(self, seat, actions, dict moves, read)
    @cython.locals(state=uint64_t)
    cpdef int playout(self, uint64_t seed) noexcept
    cpdef void perform(self, int move) noexcept
    cdef void _act(self, int kind, int a, int b, int outcome) noexcept
    cdef void _carry(self, int source, int target) noexcept
    cdef void _buy(self) noexcept
    cdef void _play(self, int kind, int a, int b) noexcept
    cpdef set_up(self, rules, setup)
    cdef _lay_cards(self, rules, setup)
    cdef _begin(self, int first, bint marked)
    cdef void _ask(self, int decision, int seat) noexcept
    cdef void _clockwise(self, int first) noexcept
    cdef void _found(self, int space) noexcept
    cdef void _enter(self, int space) noexcept
    cdef void _king(self, int space) noexcept
    cdef void _open_phase(self, int first) noexcept
    cdef void _settle_carried(self, int seat, int number) noexcept
    cdef void _next_stock(self) noexcept
    cdef void _open_round(self, int number) noexcept
    cdef bint _nobody_scored(self) noexcept
    cdef void _sort_order(self) noexcept
    cdef void _begin_turn(self) noexcept
    cdef void _end_turn(self, int outcome) noexcept
    cdef void _end_phase(self) noexcept
    cpdef int lowest(self) noexcept
