"""Features of positions, their weighted sum, and the best next moves.

A bot that searches judges many thousands of positions. The methods here work on many
positions in one call, so that no Python runs for a single move. The order of `FEATURES`
and the meaning of each feature stay as they are; new features are added at the end.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from array import array
from collections.abc import Mapping, Sequence

from engine.board import Board
from engine.cards import Cards
from engine.kernel import Position
from engine.moves import (
    CARD_COUNT,
    CARD_NAMES,
    DECK_SIZE,
    END,
    KEEPING,
    MAX_STACKS,
    TURN,
)
from engine.rulesets import PHASES
from engine.stock import Stock

FEATURES = (
    "score",  # points on the scoring track
    "castles",  # points for castles if the phase were scored now (rule 55)
    "king",  # the king's bonus if the phase were scored now (rule 57)
    "master",  # points for the master card if the phase were scored now (rule 72)
    "held",  # castles with an own knight
    "areas",  # their areas, added
    "court",  # own knights in the king's castle
    "knights",  # own knights on the board
    "levels",  # their levels, added
    "top",  # the highest of their levels
    "climbs",  # knights beside an empty space that is one level higher
    "reserve",  # knights that are not on the board yet
    "blocks",  # blocks on the seat's stacks, on its current one, and carried over
    "cards",  # cards in the hand, and one more while a purchase waits for `keep`
    "deck",  # cards in the deck from which the seat buys
    *(f"hand_{name}" for name in CARD_NAMES),  # cards of each kind in the hand
    "ap",  # action points left, of the seat that decides
    "heights",  # the highest own level in each castle with an own knight, added
    "lifts",  # areas of the castles in which a highest own knight can step up, added
    "raises",  # the same, if a block is put beside the knight first
)
"""The names of the features of a seat, in the order of all arrays."""

_COUNT = len(FEATURES)
(_SCORE, _CASTLES, _KING, _MASTER, _HELD, _AREAS, _COURT, _KNIGHTS) = range(8)
(_LEVELS, _TOP, _CLIMBS, _RESERVE, _BLOCKS, _CARDS, _DECK, _HAND) = range(8, 16)
_AP = _HAND + CARD_COUNT
(_HEIGHTS, _LIFTS, _RAISES) = range(_AP + 1, _AP + 4)
_SIDES = 2  # the weights of the own seat, and of the rivals
_ROWS = PHASES + 1  # of weights: the set-up and the phases
_ALL = 0xFFFFFFFFFFFFFFFF  # 64 bits
_FACTOR = 0x9E3779B97F4A7C15
_WORD_CARDS = 15  # cards of 4 bits each in a number


def _mix(key: int, number: int) -> int:
    """Return a key that depends on a key and one more number."""
    mixed = ((key ^ number) * _FACTOR) & _ALL
    return mixed ^ (mixed >> 32)


def key_of(position: Position) -> int:
    """Return a 64-bit number that is equal for positions from which play is the same.

    Different positions have different keys, except by a chance of about 1 in 2^64. The
    key depends on hidden cards, too. It leaves out what has no effect on the rest of
    the game, such as the order of the discards, and counters of a decision that is
    over. Positions of different rules have keys that cannot be compared.
    """
    return key_with(position, cards_key(position))


def key_with(position: Position, cards: int) -> int:
    """Return `key_of` a position whose `cards_key` is known.

    Few moves change cards, so a search computes that number once for many positions.
    """
    board = position.board
    in_turn = position.decision in (TURN, KEEPING)
    turn = position.turn if in_turn else 0
    ready = position.cards.ready if in_turn and not position.played else 0
    key = _mix(cards, ready << 16 | position.decision << 8 | position.seat)
    key = _mix(key, position.phase << 16 | position.round << 8 | turn)
    master = position.track.master + 1
    key = _mix(key, master << 16 | position.waiting << 8 | position.first)
    key = _mix(key, position.ap << 16 | position.bought << 8 | position.placed)
    key = _mix(key, (board.king + 1) << 1 | position.played)
    level = 1
    while board.at_least[level]:
        key = _mix(key, board.at_least[level])
        level += 1
    for seat in range(position.seats):
        key = _mix(key, board.knights[seat])
        key = _mix(key, position.order[seat] << 8 | position.reserve[seat])
        key = _mix(key, position.track.scores[seat])
    return _mix_stock(key, position.stock, position.seats)


def _mix_stock(key: int, stock: Stock, seats: int) -> int:
    key = _mix(key, stock.supply << 8 | (stock.current + 1))
    for seat in range(seats):
        key = _mix(key, stock.carried[seat] << 8 | stock.stacks[seat])
        for i in range(seat * MAX_STACKS, seat * MAX_STACKS + stock.stacks[seat]):
            key = _mix(key, stock.sizes[i])
    return key


def cards_key(position: Position) -> int:
    """Return a 64-bit number of the cards: those in hands and decks, and drawn ones."""
    cards = position.cards
    key = _mix(0, cards.draws)
    for i in range(cards.draws):
        key = _mix(key, cards.drawn[i])
    for seat in range(position.seats):
        word = 0
        for card in range(CARD_COUNT):
            word = word << 4 | cards.hand[seat * CARD_COUNT + card]
        key = _mix(key, word)
    for pile in range(cards.decks):
        key = _mix(key, cards.left[pile])
        word = 0
        for i in range(cards.left[pile]):
            word = word << 4 | cards.deck[pile * DECK_SIZE + i]
            if i % _WORD_CARDS == _WORD_CARDS - 1:
                key = _mix(key, word)
                word = 0
        key = _mix(key, word)
    return key


def check_seat(positions: Sequence[Position], seat: int) -> None:
    """Refuse a seat that does not exist. Compiled code would read beyond its arrays.

    Raises ValueError.
    """
    for position in positions:
        if not 0 <= seat < position.seats:
            raise ValueError(f"seat {seat} in a position with {position.seats} seats")


class Meter:
    """Measures positions: `row` has the features of one seat after `measure`."""

    def __init__(self) -> None:
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.row = [0] * _COUNT

    def measure(self, position: Position, seat: int) -> None:
        """Fill `row` with the features of a seat, in the order of `FEATURES`."""
        board = position.board
        track = position.track
        phase = max(position.phase, 1)
        self.row[_SCORE] = track.scores[seat]
        self.row[_KING] = track.king(board, seat, phase) if board.king >= 0 else 0
        self.row[_MASTER] = track.card(board, seat, phase)
        self.row[_RESERVE] = position.reserve[seat]
        self._measure_castles(board, board.knights[seat])
        self._measure_knights(board, board.knights[seat])
        self._measure_blocks(position.stock, seat)
        self.row[_AP] = position.ap if position.seat == seat else 0
        if position.seat == seat and position.stock.current > 0:
            self.row[_BLOCKS] += position.stock.current
        self._measure_cards(position.cards, seat)
        if position.decision == KEEPING and position.seat == seat:
            self.row[_CARDS] += 1

    def _measure_castles(self, board: Board, knights: int) -> None:
        points = 0
        held = 0
        heights = 0
        areas = 0
        self.row[_COURT] = 0
        self.row[_LIFTS] = 0
        self.row[_RAISES] = 0
        for number in range(board.castles):
            castle = board.castle[number]
            mine = castle & knights
            if not mine:
                continue
            area = board.area(castle)
            level = board.highest(mine)
            higher = board.at_least[level + 1]
            points += area * level
            heights += level
            areas += area
            held += 1
            if board.king >= 0 and (castle >> board.king) & 1:
                self.row[_COURT] = board.area(mine)
            beside = board.around(mine & board.at_least[level]) & castle & ~board.pieces
            if beside & higher & ~board.at_least[level + 2]:
                self.row[_LIFTS] += area
            if level < area and beside & board.at_least[level] & ~higher:
                self.row[_RAISES] += area
        self.row[_CASTLES] = points
        self.row[_HEIGHTS] = heights
        self.row[_HELD] = held
        self.row[_AREAS] = areas

    def _measure_knights(self, board: Board, knights: int) -> None:
        count = 0
        levels = 0
        top = 0
        climbs = 0
        while knights:
            space = board.lowest(knights)
            knights &= knights - 1
            level = board.height[space]
            count += 1
            levels += level
            top = max(top, level)
            if board.step(space) & board.at_least[level + 1] & ~board.pieces:
                climbs += 1
        self.row[_KNIGHTS] = count
        self.row[_LEVELS] = levels
        self.row[_TOP] = top
        self.row[_CLIMBS] = climbs

    def _measure_blocks(self, stock: Stock, seat: int) -> None:
        blocks = stock.carried[seat]
        for i in range(seat * MAX_STACKS, seat * MAX_STACKS + stock.stacks[seat]):
            blocks += stock.sizes[i]
        self.row[_BLOCKS] = blocks

    def _measure_cards(self, cards: Cards, seat: int) -> None:
        held = 0
        for card in range(CARD_COUNT):
            count = cards.hand[seat * CARD_COUNT + card]
            self.row[_HAND + card] = count
            held += count
        pile = cards.pile(seat)
        self.row[_CARDS] = held
        self.row[_DECK] = cards.left[pile] if pile >= 0 else 0

    def copy_row(self, out: "array[float]", start: int) -> None:
        """Copy `row` into an array of 32-bit floats, from index `start` on."""
        for i in range(_COUNT):
            out[start + i] = self.row[i]


def features(positions: Sequence[Position], seat: int) -> "array[float]":
    """Return the features of a seat in some positions.

    The array has 32-bit floats with the shape (positions, features): feature `f` of
    position `p` is at `len(FEATURES) * p + f`. Raises ValueError for a wrong seat.
    """
    check_seat(positions, seat)
    meter = Meter()
    rows = array("f", bytes(4 * _COUNT * len(positions)))
    for number, position in enumerate(positions):
        meter.measure(position, seat)
        meter.copy_row(rows, _COUNT * number)
    return rows


Weights = Sequence[Mapping[str, float]]
"""The weights of features by name, for the set-up and for phases 1 to 3."""


class Evaluator(Meter):
    """Values positions by a weighted sum of features, and finds the best next moves.

    The value for a seat is the sum of its features, each multiplied by its weight in
    `own`, minus the largest such sum of a rival with the weights in `rivals`. A feature
    without a weight has the weight 0. Only one thread may use an evaluator at a time.

    Raises ValueError if there are not four rows of weights, or for an unknown feature.
    """

    def __init__(self, own: Weights, rivals: Weights) -> None:
        super().__init__()
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.weights = [0.0] * (_SIDES * _ROWS * _COUNT)
            self.used = [0] * (_SIDES * _ROWS * _COUNT)
            self.uses = [0] * (_SIDES * _ROWS)
        self.child = Position()
        for side, rows in enumerate((own, rivals)):
            if len(rows) != _ROWS:
                raise ValueError(f"{len(rows)} rows of weights; {_ROWS} are needed")
            for phase, weights in enumerate(rows):
                self._set_row(_ROWS * side + phase, weights)

    def _set_row(self, row: int, weights: Mapping[str, float]) -> None:
        unknown = sorted(weights.keys() - set(FEATURES))
        if unknown:
            raise ValueError(f"there is no feature {unknown[0]!r}")
        for i, name in enumerate(FEATURES):
            if weights.get(name):
                at = _COUNT * row + self.uses[row]
                self.used[at] = i
                self.weights[at] = weights[name]
                self.uses[row] += 1

    def value(self, position: Position, seat: int) -> float:
        """Return how good a position is for a seat. Raises ValueError."""
        check_seat((position,), seat)
        return self._value(position, seat)

    def _value(self, position: Position, seat: int) -> float:
        rival = 0.0
        rivals = 0
        for other in range(position.seats):
            if other == seat:
                continue
            total = self._weigh(position, other, _ROWS + position.phase)
            if rivals == 0 or total > rival:
                rival = total
            rivals += 1
        return self._weigh(position, seat, position.phase) - rival

    def _weigh(self, position: Position, seat: int, row: int) -> float:
        """Return the sum of a seat's features with one row of weights."""
        self.measure(position, seat)
        return self.total(self, row)

    def total(self, meter: Meter, row: int) -> float:
        """Return the sum of the features that a meter has measured.

        `row` is the phase, plus 4 for the weights of the rivals.
        """
        total = 0.0
        for i in range(_COUNT * row, _COUNT * row + self.uses[row]):
            total += self.weights[i] * meter.row[self.used[i]]
        return total

    def values(self, positions: Sequence[Position], seat: int) -> list[float]:
        """Return how good each of some positions is for a seat. Raises ValueError."""
        check_seat(positions, seat)
        return [self._value(position, seat) for position in positions]

    def expand(
        self, positions: Sequence[Position], seat: int, limit: int
    ) -> list[tuple[float, int, int, int]]:
        """Return the best positions that one move from some positions leads to.

        Each is a tuple (value for `seat`, key, index of the position before, move). The
        best comes first, and at most `limit` are returned. Moves that lead to equal
        positions are returned once. `end` is left out: a turn may end after any action,
        so a search compares with the value of the position before. Raises ValueError
        for a wrong seat.
        """
        check_seat(positions, seat)
        reached: dict[int, tuple[float, int, int, int]] = {}
        for number, position in enumerate(positions):
            self._expand_one(position, seat, number, reached)
        return sorted(reached.values(), reverse=True)[:limit]

    def _expand_one(
        self,
        position: Position,
        seat: int,
        number: int,
        reached: dict[int, tuple[float, int, int, int]],
    ) -> None:
        position.generate()
        moves = position.moves
        child = self.child
        for i in range(moves.count):
            move = moves.at(i)
            if move >> 16 == END:
                continue
            child.assign(position)
            child.perform(move)
            key = key_of(child)
            if key not in reached:
                reached[key] = (self._value(child, seat), key, number, move)
