from engine.board cimport Board, MoveList
from engine.cards cimport Cards
from engine.stock cimport Stock
from engine.track cimport Track

cdef int OVER, MAX_SEATS


cdef class State:
    cdef public Board board
    cdef public Track track
    cdef public Stock stock
    cdef public Cards cards
    cdef MoveList moves
    cdef public int seats, buy_draw, max_buys, max_blocks, ordering
    cdef public bint largest, keeps_blocks, names_first
    cdef public int decision, seat, first, phase, round, turn, setup_step, waiting, turn_id
    cdef public int ap, bought, placed
    cdef public bint played
    cdef public int[4] order, reserve
    cdef public tuple phase_cards

    cdef void become(self, State other) noexcept
    cdef void become_with_same_cards(self, State other) noexcept
