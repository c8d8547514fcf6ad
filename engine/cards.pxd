cimport cython
from libc.stdint cimport int16_t

cdef int MAX_SEATS, CARD_COUNT, DECK_SIZE, BOTTOM, TOP, _DRAWN


@cython.final
cdef class Cards:
    cdef public int decks, draws, ready
    cdef public int16_t[160] deck, knowers, discard
    cdef public int16_t[40] hand
    cdef public int16_t[10] fresh
    cdef public int16_t[3] drawn
    cdef public int[4] left, discards

    cpdef lay(self, int pile, deck)
    cpdef void give(self, int seat, int card, int count) noexcept
    cpdef void assign(self, Cards other) noexcept
    cpdef bint can_keep(self, int seat, int card, int deck_end) noexcept
    cpdef void begin(self, int seat) noexcept
    cpdef void end(self) noexcept
    cpdef int pile(self, int seat) noexcept
    cpdef bint can_buy(self, int seat) noexcept
    cpdef void buy(self, int seat) noexcept
    cpdef void draw(self, int seat) noexcept
    cpdef void keep(self, int seat, int card, int deck_end) noexcept
    cdef void _receive(self, int seat, int card) noexcept
    cpdef void play(self, int seat, int card) noexcept
