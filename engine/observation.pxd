cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport Board, MoveList
from engine.cards cimport Cards
from engine.evaluation cimport Meter
from engine.kernel cimport Position
from engine.stock cimport Stock

cdef int CARD_COUNT, DECK_SIZE, KEEPING, MAX_SEATS, MAX_STACKS, OVER, TURN
cdef int _PUBLIC, _STACKS, _DECISION_COUNT, _MASTER_COUNT, _SIZE, _BOARD, _ACTIONS, _MAX_LEGAL, _NO_ID
cdef int[196608] _IDS
cdef int[19915] _MOVES

cdef int _index(int move) noexcept
cpdef int id_of(int move) noexcept


@cython.final
cdef class Observer(Meter):
    cdef Py_ssize_t at

    @cython.locals(moves=MoveList, marked=int, action=int, i=int)
    cpdef int mask(self, Position position, signed char[::1] out, Py_ssize_t start) except -1
    @cython.locals(position=Position, row=Py_ssize_t, games=Py_ssize_t)
    cpdef observe_all(self, list positions, int[::1] seats, float[::1] observations, signed char[::1] masks, short[::1] legal, int[::1] starts)
    @cython.locals(moves=MoveList, action=int, i=int)
    cdef int _mark(self, Position position, signed char[::1] masks, Py_ssize_t start, short[::1] legal, int at) noexcept
    @cython.locals(position=Position, row=Py_ssize_t, games=Py_ssize_t, action=cython.longlong, mark=cython.longlong, i=Py_ssize_t)
    cpdef Py_ssize_t step_all(self, list positions, long long[::1] actions, signed char[::1] masks, short[::1] legal, int[::1] starts, signed char[::1] finished) except -2
    cpdef observe(self, Position position, int seat, float[::1] out, Py_ssize_t start)
    @cython.locals(turn=int, i=Py_ssize_t)
    cdef void _observe(self, Position position, int seat, float[::1] out, Py_ssize_t start) noexcept
    @cython.locals(space=int, number=int, area=int, turn=int, knights=uint64_t)
    cdef void _write_board(self, Board board, int seats, int seat, float[::1] out) noexcept
    cdef void _write_plane(self, Board board, uint64_t spaces, int number, float[::1] out) noexcept
    @cython.locals(at=Py_ssize_t)
    cdef void _write_course(self, Position position, int seat, float[::1] out) noexcept
    @cython.locals(cards=Cards, card=int, i=int)
    cdef void _write_cards(self, Position position, int seat, float[::1] out) noexcept
    @cython.locals(stock=Stock, turn=int, i=int)
    cdef void _write_seat(self, Position position, int seat, float[::1] out) noexcept
    @cython.locals(i=int)
    cdef void _write_discards(self, Cards cards, int seat, float[::1] out) noexcept
