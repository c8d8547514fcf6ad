"""The scoring track: scores, the tie rule, the scoring of a phase (rules 54-59, 72)."""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.board import Board
from engine.moves import ADJACENT, ALL_LEVELS, BORDER, CASTLES, DIAGONALS, ROW, SQUARE
from engine.rulesets import KNIGHTS, MAX_SEATS, PHASES

_SIDE = 8


class Track:
    """Scores by seat, and the points of each phase's scoring.

    `castle_points`, `king_points` and `master_points`, all before the tie rule, and
    `totals` hold four numbers for each scored phase, at `4 * (phase - 1) + seat`.
    """

    def __init__(self) -> None:
        self.seats = 0
        self.scored = 0  # number of scored phases
        self.master = -1
        self.all_six = True
        self.contiguous = False
        self.tilted = False
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.scores = [0] * MAX_SEATS
            self.castle_points = [0] * (PHASES * MAX_SEATS)
            self.king_points = [0] * (PHASES * MAX_SEATS)
            self.master_points = [0] * (PHASES * MAX_SEATS)
            self.totals = [0] * (PHASES * MAX_SEATS)

    def assign(self, other: "Track") -> None:
        """Become a copy of another track."""
        self.seats = other.seats
        self.scored = other.scored
        self.master = other.master
        self.all_six = other.all_six
        self.contiguous = other.contiguous
        self.tilted = other.tilted
        for seat in range(MAX_SEATS):
            self.scores[seat] = other.scores[seat]
        for i in range(MAX_SEATS * other.scored):
            self.castle_points[i] = other.castle_points[i]
            self.king_points[i] = other.king_points[i]
            self.master_points[i] = other.master_points[i]
            self.totals[i] = other.totals[i]

    def gain(self, seat: int, points: int) -> None:
        """Add points, then 1 more while another seat has that score (rules 54, 56).

        A seat that gains 0 points does not move (rule 59).
        """
        if points == 0:
            return
        score = self.scores[seat] + points
        while self._taken(seat, score):
            score += 1
        self.scores[seat] = score

    def _taken(self, seat: int, score: int) -> bool:
        for other in range(self.seats):
            if other != seat and self.scores[other] == score:
                return True
        return False

    def score_phase(self, board: Board, phase: int, first: int) -> None:
        """Score castles, then king, then master card (rules 55-58).

        In each step the seats score clockwise from `first`.
        """
        start = MAX_SEATS * (phase - 1)
        self.scored = phase
        for turn in range(self.seats):
            seat = (first + turn) % self.seats
            self.castle_points[start + seat] = self.castles(board, seat)
            self.gain(seat, self.castle_points[start + seat])
        for turn in range(self.seats):
            seat = (first + turn) % self.seats
            self.king_points[start + seat] = self.king(board, seat, phase)
            self.gain(seat, self.king_points[start + seat])
        for turn in range(self.seats):
            seat = (first + turn) % self.seats
            self.master_points[start + seat] = self.card(board, seat, phase)
            self.gain(seat, self.master_points[start + seat])
        for seat in range(self.seats):
            self.totals[start + seat] = self.scores[seat]

    def castles(self, board: Board, seat: int) -> int:
        """Return a seat's points for castles (rule 55).

        Each castle counts its area times the level of the highest own knight in it.
        """
        points = 0
        for number in range(board.castles):
            castle = board.castle[number]
            knights = castle & board.knights[seat]
            if knights:
                points += board.area(castle) * board.highest(knights)
        return points

    def king(self, board: Board, seat: int, phase: int) -> int:
        """Return the bonus for a knight in the king's castle (rule 57).

        The level of the knight has to be the number of the phase.
        """
        number = board.castle_at(board.king)
        knights = board.castle[number] & board.knights[seat]
        return 5 * phase if knights & board.exactly(phase) else 0

    def card(self, board: Board, seat: int, phase: int) -> int:
        """Return the points of the master card (rule 72)."""
        if self.master < 0:
            return 0
        if self.master == BORDER:
            return self._most(board, seat, phase, board.border())
        if self.master == DIAGONALS:
            return self._most(board, seat, phase, board.long_diagonals())
        if self.master == CASTLES:
            return self._many_castles(board, seat, phase)
        if phase < PHASES or not self._shape(board, board.knights[seat]):
            return 0
        return 40 if self.master in (ADJACENT, ALL_LEVELS) else 50

    def _most(self, board: Board, seat: int, phase: int, spaces: int) -> int:
        """Return the points for knights on a set of spaces (rule 72, M1 and M2).

        The seat with strictly the most knights there gets the points of one more.
        """
        worth = 10 if phase == PHASES else 3 * phase - 1  # 2, 5, 10
        own = board.area(board.knights[seat] & spaces)
        most = own > 0
        for other in range(self.seats):
            if other != seat and board.area(board.knights[other] & spaces) >= own:
                most = False
        return worth * (own + 1) if most else worth * own

    def _many_castles(self, board: Board, seat: int, phase: int) -> int:
        """Return the points for exactly 4, 5 or 6 castles (rule 72, M3)."""
        count = 0
        for number in range(board.castles):
            if board.castle[number] & board.knights[seat]:
                count += 1
        if count != phase + 3:
            return 0
        return 30 if phase == PHASES else 10 * phase - 5  # 5, 15, 30

    def _shape(self, board: Board, knights: int) -> bool:
        """True if knights fulfil the master card, one of M4 to M8 (rule 72, D-24)."""
        if self.master == SQUARE:
            return self._square(knights)
        if self.all_six and board.area(knights) < KNIGHTS:
            return False
        if self.master == ADJACENT:
            return board.connected(knights)
        if self.master == ALL_LEVELS:
            return self._all_levels(board, knights)
        if self.master == ROW:
            return self._row(board, knights)
        return board.exactly(board.highest(knights)) & knights == knights

    def _all_levels(self, board: Board, knights: int) -> bool:
        level = 0
        while knights:
            here = knights & board.exactly(level)
            if here & (here - 1):
                return False
            knights &= ~here
            level += 1
        return True

    def _row(self, board: Board, knights: int) -> bool:
        if self.contiguous and not board.connected(knights):
            return False
        column = board.line_of(knights, 0)
        row = board.line_of(knights, 1)
        return knights & column == knights or knights & row == knights

    def _square(self, knights: int) -> bool:
        """True if four knights are the corners of a square (rule 72, M7)."""
        for corner in range(64):
            for x in range(1, 8):
                for y in range(8):
                    if y and not self.tilted:
                        break
                    if self._corners(knights, corner, x, y):
                        return True
        return False

    def _corners(self, knights: int, corner: int, x: int, y: int) -> bool:
        """True if knights stand on a square's corners; its first side is (x, y)."""
        column = corner >> 3
        row = corner & 7
        for _ in range(4):
            if not (0 <= column < _SIDE and 0 <= row < _SIDE):
                return False
            if not (knights >> (8 * column + row)) & 1:
                return False
            column += x
            row += y
            x, y = -y, x  # turn left
        return True
