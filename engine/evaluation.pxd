cimport cython
from libc.stdint cimport uint64_t

from engine.board cimport Board, MoveList
from engine.cards cimport Cards
from engine.kernel cimport Position
from engine.stock cimport Stock

cdef int CARD_COUNT, DECK_SIZE, END, KEEPING, MAX_STACKS, PHASES, TURN
cdef int _COUNT, _SIDES, _ROWS, _WORD_CARDS
cdef int _SCORE, _CASTLES, _KING, _MASTER, _HELD, _AREAS, _COURT, _KNIGHTS
cdef int _LEVELS, _TOP, _CLIMBS, _RESERVE, _BLOCKS, _CARDS, _DECK, _HAND, _AP
cdef int _HEIGHTS, _LIFTS, _RAISES
cdef uint64_t _ALL, _FACTOR

@cython.locals(mixed=uint64_t)
cdef uint64_t _mix(uint64_t key, uint64_t number) noexcept
@cython.locals(board=Board, key=uint64_t, level=int, seat=int, turn=int, master=int, ready=int, in_turn=bint)
cpdef uint64_t key_with(Position position, uint64_t cards) noexcept
cpdef uint64_t key_of(Position position) noexcept
@cython.locals(seat=int, i=int)
cdef uint64_t _mix_stock(uint64_t key, Stock stock, int seats) noexcept
@cython.locals(cards=Cards, key=uint64_t, seat=int, i=int, card=int, pile=int, word=uint64_t)
cpdef uint64_t cards_key(Position position) noexcept


cdef class Meter:
    cdef public int[29] row

    cdef void measure(self, Position position, int seat) noexcept
    @cython.locals(castle=uint64_t, mine=uint64_t, higher=uint64_t, beside=uint64_t, points=int, held=int, heights=int, areas=int, area=int, level=int, number=int)
    cdef void _measure_castles(self, Board board, uint64_t knights) noexcept
    @cython.locals(count=int, levels=int, top=int, climbs=int, space=int, level=int)
    cdef void _measure_knights(self, Board board, uint64_t knights) noexcept
    @cython.locals(blocks=int)
    cdef void _measure_blocks(self, Stock stock, int seat) noexcept
    @cython.locals(held=int, count=int, pile=int)
    cdef void _measure_cards(self, Cards cards, int seat) noexcept
    cdef copy_row(self, float[::1] out, int start)


@cython.final
cdef class Evaluator(Meter):
    cdef double[232] weights
    cdef int[232] used
    cdef int[8] uses
    cdef Position child

    @cython.locals(rival=double, total=double, rivals=int, other=int)
    cdef double _value(self, Position position, int seat) noexcept
    cdef double _weigh(self, Position position, int seat, int row) noexcept
    @cython.locals(total=double, i=int)
    cdef double total(self, Meter meter, int row) noexcept
    @cython.locals(moves=MoveList, child=Position, key=uint64_t, move=int, i=int)
    cdef _expand_one(self, Position position, int seat, int number, dict reached)
