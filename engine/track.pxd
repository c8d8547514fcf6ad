cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport Board

cdef int MAX_SEATS, PHASES, KNIGHTS, _SIDE
cdef int ADJACENT, ALL_LEVELS, BORDER, CASTLES, DIAGONALS, ONE_LEVEL, ROW, SQUARE


@cython.final
cdef class Track:
    cdef public int seats, scored, master
    cdef public bint all_six, contiguous, tilted
    cdef public int[4] scores
    cdef public int[12] castle_points, king_points, master_points, totals

    cpdef void assign(self, Track other) noexcept
    cpdef void gain(self, int seat, int points) noexcept
    cdef bint _taken(self, int seat, int score) noexcept
    cpdef void score_phase(self, Board board, int phase, int first) noexcept
    cpdef int castles(self, Board board, int seat) noexcept
    cpdef int king(self, Board board, int seat, int phase) noexcept
    cpdef int card(self, Board board, int seat, int phase) noexcept
    cdef int _most(self, Board board, int seat, int phase, uint64_t spaces) noexcept
    cdef int _many_castles(self, Board board, int seat, int phase) noexcept
    cdef bint _shape(self, Board board, uint64_t knights) noexcept
    cdef bint _all_levels(self, Board board, uint64_t knights) noexcept
    cdef bint _row(self, Board board, uint64_t knights) noexcept
    cdef bint _square(self, uint64_t knights) noexcept
    @cython.locals(column=int, row=int)
    cdef bint _corners(self, uint64_t knights, int corner, int x, int y) noexcept
