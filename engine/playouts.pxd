cimport cython
from libc.stdint cimport uint64_t

from engine.kernel cimport Position

cdef int MAX_SEATS
cdef uint64_t _ALL, _STEP, _FIRST_FACTOR, _SECOND_FACTOR

@cython.locals(mixed=uint64_t)
cpdef uint64_t seed_of(uint64_t seed, uint64_t number) noexcept
@cython.locals(game=Position, position=Position, number=int, seat=int)
cdef _play_all(list positions, int games, uint64_t seed, int[::1] out)
@cython.locals(total=long, best=int, game=int, other=int)
cdef long _sum_of_leads(int[::1] scores, int seats, int seat, int first, int games)
