cimport cython

cdef int MAX_SEATS, MAX_STACKS, NO_LIMIT, _SIZES, _NONE, _EVERY
cdef int[64] _ASCII


@cython.final
cdef class Stock:
    cdef public int supply, current, limit
    cdef public bint automatic
    cdef int base, parts, count, target
    cdef list listed
    cdef int[256] sizes
    cdef int[4] stacks
    cdef public int[4] carried
    cdef int[64] result

    cpdef void assign(self, Stock other) noexcept
    cpdef void deal(self, int seat, int size) noexcept
    cpdef bint has(self, int seat, int size) noexcept
    cdef int _last(self, int seat, int size) noexcept
    cpdef int by_digits(self, int rank) noexcept
    cpdef void take(self, int seat, int size) noexcept
    cpdef void shrink(self, int seat, int size) noexcept
    cpdef void begin(self, int seat, bint largest) noexcept
    cdef void _select(self, int seat) noexcept
    cdef int room(self) noexcept
    cdef int _cap(self, int part) noexcept
    cpdef int outcomes(self, int seat, int blocks) noexcept
    cdef void outcome(self, int seat, int blocks, int number) noexcept
    cdef void _fill(self, int blocks) noexcept
    cdef bint _spread(self, int part, int blocks, int ceiling)
    cdef int _room_below(self, int part, int ceiling) noexcept
    cpdef void settle(self, int seat, int blocks, int number) noexcept
    cpdef list others(self, int seat)
    cpdef list every_outcome(self, int seat, int blocks)
