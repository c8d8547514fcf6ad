cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport MoveList
from engine.evaluation cimport Evaluator, key_of
from engine.kernel cimport Position

cdef int END, TURN
cdef int _SLOTS, _RIVALS, PHASES
cdef double _NOTHING

cdef double _least(list heap, int size)
cdef double _offer(list heap, int size, tuple entry)
cdef bint _may_end(Position position, int seat) noexcept
cdef bint _goes_on(Position position, int seat) noexcept


@cython.final
cdef class TurnSearch:
    cdef public Evaluator evaluator
    cdef public Evaluator promise
    cdef Position child
    cdef uint64_t[::1] known
    cdef uint64_t searches
    cdef int width, limit
    cdef list ranked, found
    cdef double value, rank

    @cython.locals(slot=uint64_t, entry=uint64_t)
    cdef bint _is_known(self, uint64_t key) noexcept
    @cython.locals(seat=int, worst=double, least=double, listed=MoveList, child=Position, i=int, move=int, key=uint64_t)
    cdef _expand(self, Position before, int number, tuple moves)
    @cython.locals(evaluator=Evaluator, row=int, rival=double, total=double, other=int)
    cdef void _judge(self, Position position, int seat) noexcept
