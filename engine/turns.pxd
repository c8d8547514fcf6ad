cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport MoveList
from engine.evaluation cimport Evaluator, cards_key, key_of, key_with
from engine.kernel cimport Position

cdef int ADD, BLOCK, BORDER, BUY, DIAGONALS, END, MOVE, SCORE, STACK, TURN
cdef int _SLOTS, _RIVALS, PHASES
cdef uint64_t _ALL
cdef double _NOTHING

cdef double _least(list heap, int size)
cdef double _offer(list heap, int size, tuple entry)
@cython.locals(compares=bint)
cdef uint64_t _changed(Position position, Position before, int kind) noexcept
cdef bint _may_end(Position position, int seat) noexcept
cdef bint _goes_on(Position position, int seat) noexcept


@cython.final
cdef class TurnSearch:
    cdef public Evaluator evaluator
    cdef public Evaluator promise
    cdef Position child
    cdef uint64_t[::1] known
    cdef uint64_t searches, last_slot
    cdef int width, limit
    cdef list ranked, found
    cdef double value, rank
    cdef double[4] totals

    @cython.locals(slot=uint64_t, entry=uint64_t)
    cdef bint _is_known(self, uint64_t key) noexcept
    @cython.locals(seat=int, worst=double, least=double, listed=MoveList, child=Position, i=int, move=int, kind=int, same_cards=bint, key=uint64_t, cards=uint64_t)
    cdef _expand(self, Position before, int number, tuple moves)
    @cython.locals(other=int)
    cdef void _weigh_rivals(self, Position before, int seat) noexcept
    cdef double _total(self, Position position, int rival) noexcept
    @cython.locals(evaluator=Evaluator, row=int, changed=uint64_t, rival=double, total=double, other=int)
    cdef void _judge(self, Position position, int seat, Position before, int kind) noexcept
