from libc.stdint cimport uint64_t

from engine.board cimport Board, MoveList
from engine.state cimport State

cdef int AP6, AP7, ADD, BLOCK, BUY, CURRENT, DIAGONAL, DOOR_UP, END, ENTER, ENTERING
cdef int EXTRA_BLOCK, FIRST, FIRST_DUE, FOUND, FOUNDING, JUMP, KEEP, KEEPING, KING
cdef int KING_DUE, MOVE, MOVE_BLOCK, PLAY, REGROUP, SCORE, STACK, STAY, STOCK
cdef int STOCK_DUE, TURN, UNDER_KNIGHT, UP2
cdef int ADD_COST, CARD_COUNT


cdef class LegalMoves(State):
    cdef bint is_legal(self, long long move) noexcept
    cdef bint _allows_pair(self, int kind, int a, int b) noexcept
    cdef bint _allows_single(self, int kind, int a) noexcept
    cdef bint _is_goal_card(self, int kind) noexcept
    cdef bint _ready(self, int kind) noexcept
    cdef bint _may_play(self, int kind) noexcept
    cdef bint _may_take(self, int size) noexcept
    cdef bint _may_use(self, int size) noexcept
    cdef bint _may_stay(self) noexcept
    cdef int ways(self, int kind) noexcept
    cdef uint64_t _spaces(self, int kind) noexcept
    cdef bint _has_block(self) noexcept
    cdef uint64_t _piece_spaces(self, int kind) noexcept
    cdef uint64_t _card_spaces(self, int kind) noexcept
    cdef uint64_t _goals(self, int kind, int space) noexcept
    cdef void generate(self) noexcept
    cdef void _list_keeps(self) noexcept
    cdef void _list_turn(self) noexcept
    cdef void _list_card(self, int kind) noexcept
    cdef void _list_under(self, int space) noexcept
    cdef void _emit_plain(self, int kind) noexcept
    cdef void _emit_outcomes(self, int kind) noexcept
    cdef void _emit_spaces(self, int kind) noexcept
    cdef void _emit_pairs(self, int kind) noexcept
