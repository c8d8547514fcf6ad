"""The numbers that the kernel uses for cards, master cards, decisions and moves.

Cards and kinds of moves are numbered in the ASCII order of their words, so that the
kernel lists moves in the order of their strings without making the strings.

A move is `kind << 16 | a << 8 | b`; a and b are a space, a seat, a size, a card, or 0.
For END and STOCK the low 16 bits are the number of an outcome (stock.py). A space is
`8 * column + row`.
"""

from enum import StrEnum

from engine.rulesets import CARDS, COPIES, MASTERS

CARD_NAMES = tuple(sorted(CARDS))
CARD_COUNT = len(CARD_NAMES)
DECK_SIZE = CARD_COUNT * COPIES  # cards in the largest deck
CARD_IDS = {name: number for number, name in enumerate(CARD_NAMES)}
MASTER_NAMES = MASTERS
(BORDER, DIAGONALS, CASTLES, ADJACENT, ALL_LEVELS, ROW, SQUARE, ONE_LEVEL) = range(8)


class Decision(StrEnum):
    """The decisions of a seat (docs/contract.md, section 3)."""

    FOUND = "found"
    ENTER = "enter"
    KING = "king"
    FIRST = "first"
    STOCK = "stock"
    TURN = "turn"
    KEEP = "keep"


DECISIONS = (None, *Decision)  # by the kernel's numbers; None: the game is over
(OVER, FOUNDING, ENTERING, KING_DUE, FIRST_DUE, STOCK_DUE, TURN, KEEPING) = range(8)

(ADD, BLOCK, BUY, END, ENTER, FIRST, FOUND, KEEP, KING, MOVE) = range(1, 11)
PLAY = 11  # PLAY + card is the kind of playing that card
(AP6, AP7, DIAGONAL, DOOR_UP, EXTRA_BLOCK, JUMP, MOVE_BLOCK, REGROUP) = range(11, 19)
(UNDER_KNIGHT, UP2, SCORE, STACK, STOCK) = range(19, 24)

STAY = 64  # in place of a space: `king stay`
BOTTOM = 0  # end of the deck to which `keep` returns the other cards
TOP = 1
NO_LIMIT = 1000  # for a switch that is null; more than any game reaches
MAX_STACKS = 64  # of a seat in one phase: two seats share at most 84 blocks
CURRENT = 63  # in place of a size, which is at most 41: `under_knight … current`

SPACES = tuple(f"{column}{row}" for column in "abcdefgh" for row in range(1, 9))
"""The spaces of rule 1 in the order of their numbers, which is also ASCII order."""
NUMBERS = {name: number for number, name in enumerate(SPACES)}
_MARKED = ("a4", "c3", "c6", "d8", "e1", "f3", "f6", "h5")  # rule 14
MARKED = tuple(NUMBERS[name] for name in _MARKED)
