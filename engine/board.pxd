cimport cython
from libc.stdint cimport int16_t, int32_t, uint64_t

cdef uint64_t _ONE, _ALL, _NOT_ROW_8, _NOT_ROW_1, _DE_BRUIJN
cdef uint64_t _PAIRS, _FOURS, _BYTES
cdef uint64_t _COLUMN_A, _ROW_1, _BORDER, _LONG_DIAGONALS
cdef int _MAX_CASTLES, _PLANES, _MIN_CASTLES, _NONE, _MAX_CACHED_SETS
cdef uint64_t[64] _BIT, _NEAR, _SLANT
cdef int[64] _INDEX

cdef int lowest(uint64_t spaces) noexcept
cdef uint64_t near(uint64_t spaces) noexcept
@cython.locals(reached=uint64_t, grown=uint64_t)
cdef uint64_t flood(uint64_t seed, uint64_t inside) noexcept


@cython.final
cdef class MoveList:
    cdef public int count
    # Room for MOVE_BLOCK between any two spaces, all ENDs, and all other moves.
    cdef int32_t[16384] moves

    cdef void add(self, int move) noexcept
    cdef void add_spaces(self, int move, uint64_t spaces, int shift) noexcept
    cdef int at(self, int index) noexcept
    cpdef list listed(self)


@cython.final
cdef class Board:
    cdef public int castles
    cdef public uint64_t pieces
    cdef public int king
    cdef bint sites_valid
    cdef uint64_t paths_valid
    cdef uint64_t sites
    cdef public uint64_t seams
    cdef public int16_t[64] height
    cdef public uint64_t[68] at_least
    cdef public uint64_t[32] castle
    cdef uint64_t[32] skirt
    cdef public uint64_t[4] knights
    cdef uint64_t[64] paths

    cpdef void assign(self, Board other) noexcept
    cpdef void place(self, int space) noexcept
    cpdef void move_block(self, int source, int target) noexcept
    cpdef int castle_at(self, int space) noexcept
    cdef int _castle_near(self, int space) noexcept
    cpdef int top(self, uint64_t castle) noexcept
    cpdef int area(self, uint64_t castle) noexcept
    @cython.locals(once=uint64_t, twice=uint64_t, low=uint64_t, castle=uint64_t)
    cdef void _find_sites(self) noexcept
    @cython.locals(blocks=uint64_t, spaces=uint64_t)
    cpdef uint64_t changed(self, Board before) noexcept
    cpdef uint64_t around(self, uint64_t spaces) noexcept
    cpdef int lowest(self, uint64_t spaces) noexcept
    cpdef uint64_t block(self) noexcept
    cpdef uint64_t under_knight(self, int seat) noexcept
    cpdef uint64_t found(self) noexcept
    cpdef uint64_t roofs(self) noexcept
    cpdef uint64_t loose(self) noexcept
    @cython.locals(once=uint64_t, twice=uint64_t, part=uint64_t, joining=uint64_t, others=uint64_t, targets=uint64_t)
    cpdef uint64_t move_block_from(self, int source) noexcept
    cpdef void lift(self, int seat, int space) noexcept
    cpdef void drop(self, int seat, int space) noexcept
    cpdef void crown(self, int space) noexcept
    cpdef uint64_t beside(self, int space) noexcept
    cpdef uint64_t add(self, int seat) noexcept
    @cython.locals(targets=uint64_t)
    cpdef uint64_t regroup(self, int seat, int space) noexcept
    cpdef uint64_t step(self, int space) noexcept
    @cython.locals(exits=uint64_t)
    cpdef uint64_t doors(self, int space) noexcept
    @cython.locals(castles=uint64_t)
    cdef uint64_t _whole(self, uint64_t rooms) noexcept
    cpdef uint64_t walk(self, int space) noexcept
    cpdef uint64_t up2(self, int space) noexcept
    cpdef uint64_t diagonal(self, int space) noexcept
    @cython.locals(behind=uint64_t)
    cpdef uint64_t jump(self, int space) noexcept
    @cython.locals(exits=uint64_t)
    cpdef uint64_t door_up(self, int space) noexcept
    cpdef uint64_t border(self) noexcept
    cpdef uint64_t long_diagonals(self) noexcept
    cpdef uint64_t line_of(self, uint64_t spaces, bint across) noexcept
    cpdef bint connected(self, uint64_t spaces) noexcept
    cpdef int highest(self, uint64_t spaces) noexcept
    cpdef uint64_t exactly(self, int level) noexcept
