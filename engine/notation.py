"""The contract's strings for moves, and the kernel's numbers for them.

`end` and `stock` name sizes where there is a choice, so they are read and written with
the position; every other string always means the same move, and is remembered once met.
"""

from engine.kernel import Position
from engine.moves import (
    ADD,
    AP6,
    AP7,
    BLOCK,
    BOTTOM,
    BUY,
    CARD_IDS,
    CARD_NAMES,
    CURRENT,
    END,
    ENTER,
    EXTRA_BLOCK,
    FIRST,
    FOUND,
    KEEP,
    KING,
    MOVE,
    NUMBERS,
    PLAY,
    SCORE,
    SPACES,
    STACK,
    STAY,
    STOCK,
    TOP,
    UNDER_KNIGHT,
)

_WORDS = {
    ADD: "add",
    BLOCK: "block",
    BUY: "buy",
    ENTER: "enter",
    FIRST: "first",
    FOUND: "found",
    KEEP: "keep",
    KING: "king",
    MOVE: "move",
    SCORE: "score",
    STACK: "stack",
} | {PLAY + number: f"play {card}" for number, card in enumerate(CARD_NAMES)}
_KINDS = {word: kind for kind, word in _WORDS.items()}
_PLAIN = {BUY, SCORE, AP6, AP7}
_SINGLE = {ADD, BLOCK, ENTER, FOUND, KING, EXTRA_BLOCK}
_PLACES = {"bottom": BOTTOM, "top": TOP}
_PLACE_NAMES = {number: name for name, number in _PLACES.items()}
_SIZES = {str(size): size for size in range(CURRENT)}
_LONGEST = 40  # characters in the longest string whose meaning is remembered

_texts: dict[int, str] = {}
MOVES: dict[str, int] = {}
"""What the strings met so far mean, but for those that need a position."""


def text(position: Position, move: int) -> str:
    """Return the string of a legal move."""
    known = _texts.get(move)
    if known is not None:
        return known
    kind = move >> 16
    if kind in (END, STOCK):
        return ending_texts(position, kind)[move & 0xFFFF]
    written = _texts[move] = _written(kind, (move >> 8) & 0xFF, move & 0xFF)
    return written


def _written(kind: int, a: int, b: int) -> str:
    word = _WORDS[kind]
    if kind in _PLAIN:
        return word
    if kind in (FIRST, STACK):
        return f"{word} {a}"
    if kind == KEEP:
        return f"{word} {CARD_NAMES[a]} {_PLACE_NAMES[b]}"
    if kind == UNDER_KNIGHT:
        return f"{word} {SPACES[a]} {'current' if b == CURRENT else b}"
    if kind in _SINGLE:
        return f"{word} {'stay' if a == STAY else SPACES[a]}"
    return f"{word} {SPACES[a]} {SPACES[b]}"


def texts(position: Position) -> list[str]:
    """Return the strings of all legal moves, in ASCII order."""
    endings: list[str] = []
    strings = []
    for move in position.legal():
        known = _texts.get(move)
        if known is None:
            if move >> 16 in (END, STOCK):
                endings = endings or ending_texts(position, move >> 16)
                known = endings[move & 0xFFFF]
            else:
                known = text(position, move)
        strings.append(known)
    return strings


def ending_texts(position: Position, kind: int) -> list[str]:
    """Return the strings of an END or STOCK move by number of outcome.

    One outcome of an `end` needs no sizes; a `stock` is only asked where there are
    more.
    """
    stock = position.stock
    blocks = stock.current if kind == END else stock.carried[position.seat]
    outcomes = stock.every_outcome(position.seat, blocks)
    if kind == END and len(outcomes) == 1:
        return ["end"]
    word = "end" if kind == END else "stock"
    return [f"{word} {','.join(map(str, sizes))}" for sizes in outcomes]


def move_of(position: Position, action: str) -> int | None:
    """Return the move that a string means in a position, legal or not, or None."""
    known = MOVES.get(action)
    if known is not None:
        return known
    word, _, rest = action.partition(" ")
    if word in ("end", "stock"):
        return _read_ending(position, action)
    move = _read(action, word, rest) if len(action) < _LONGEST else None
    if move is not None:
        MOVES[action] = move
    return move


def _read_ending(position: Position, action: str) -> int | None:
    kind = END if action.startswith("end") else STOCK
    outcomes = position.outcomes(kind)  # 0 where the decision is another
    if action == "end":
        return END << 16 if outcomes == 1 else None
    if not outcomes:
        return None
    endings = ending_texts(position, kind)
    return kind << 16 | endings.index(action) if action in endings else None


def _read(action: str, word: str, rest: str) -> int | None:
    """Return the move that is written exactly so, or None."""
    arguments = rest.split(" ") if rest else []
    if word == "play" and arguments:
        word = f"play {arguments.pop(0)}"
    kind = _KINDS.get(word)
    if kind is None:
        return None
    numbers = _numbers(kind, arguments)
    if numbers is None:
        return None
    a, b = numbers
    move = kind << 16 | a << 8 | b
    return move if _written(kind, a, b) == action else None


def _numbers(kind: int, arguments: list[str]) -> tuple[int, int] | None:
    if kind in _PLAIN:
        tables: tuple[dict[str, int], ...] = ()
    elif kind in (FIRST, STACK):
        tables = (_SIZES,)
    elif kind == KEEP:
        tables = (CARD_IDS, _PLACES)
    elif kind == UNDER_KNIGHT:
        tables = (NUMBERS, _SOURCES)
    elif kind in _SINGLE:
        tables = (_TARGETS if kind == KING else NUMBERS,)
    else:
        tables = (NUMBERS, NUMBERS)
    if len(arguments) != len(tables):
        return None
    found = [table.get(word) for table, word in zip(tables, arguments, strict=True)]
    a, b = (*found, 0, 0)[:2]
    return None if a is None or b is None else (a, b)


_SOURCES = _SIZES | {"current": CURRENT}
_TARGETS = NUMBERS | {"stay": STAY}
