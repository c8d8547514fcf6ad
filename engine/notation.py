"""Translate between the action strings of docs/contract.md and the kernel's moves.

An `end` or `stock` string may name sizes, so reading and writing it needs the position.
Every other string always means the same move; such pairs are cached.
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
_DECK_ENDS = {"bottom": BOTTOM, "top": TOP}
_DECK_END_NAMES = {number: name for name, number in _DECK_ENDS.items()}
_SIZES = {str(size): size for size in range(CURRENT)}
_SOURCES = _SIZES | {"current": CURRENT}
_KING_TARGETS = NUMBERS | {"stay": STAY}
_MAX_CHARS = 40  # no action that is cached is as long

_texts: dict[int, str] = {}
MOVES: dict[str, int] = {}
"""A cache of the moves of strings that do not need a position."""


def text(position: Position, move: int) -> str:
    """Return the string of a legal move."""
    cached = _texts.get(move)
    if cached is not None:
        return cached
    kind = move >> 16
    if kind in (END, STOCK):
        return ending_texts(position, kind)[move & 0xFFFF]
    action = _write(kind, (move >> 8) & 0xFF, move & 0xFF)
    _texts[move] = action
    return action


def _write(kind: int, a: int, b: int) -> str:
    word = _WORDS[kind]
    if kind in _PLAIN:
        return word
    if kind in (FIRST, STACK):
        return f"{word} {a}"
    if kind == KEEP:
        return f"{word} {CARD_NAMES[a]} {_DECK_END_NAMES[b]}"
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
        action = _texts.get(move)
        if action is None:
            if move >> 16 in (END, STOCK):
                endings = endings or ending_texts(position, move >> 16)
                action = endings[move & 0xFFFF]
            else:
                action = text(position, move)
        strings.append(action)
    return strings


def ending_texts(position: Position, kind: int) -> list[str]:
    """Return the strings of all END or STOCK moves, by number of outcome.

    An `end` with one outcome names no sizes. A `stock` always has several outcomes.
    """
    stock = position.stock
    blocks = stock.current if kind == END else stock.carried[position.seat]
    outcomes = stock.every_outcome(position.seat, blocks)
    if kind == END and len(outcomes) == 1:
        return ["end"]
    word = "end" if kind == END else "stock"
    return [f"{word} {','.join(map(str, sizes))}" for sizes in outcomes]


def move_of(position: Position, action: str) -> int | None:
    """Return the move of a string in a position, legal or not.

    Return None if the string is no action.
    """
    cached = MOVES.get(action)
    if cached is not None:
        return cached
    word, _, rest = action.partition(" ")
    if word in ("end", "stock"):
        return _read_ending(position, action)
    move = _read(action, word, rest) if len(action) < _MAX_CHARS else None
    if move is not None:
        MOVES[action] = move
    return move


def _read_ending(position: Position, action: str) -> int | None:
    kind = END if action.startswith("end") else STOCK
    outcomes = position.outcomes(kind)  # 0 if the decision is another one
    if action == "end":
        return END << 16 if outcomes == 1 else None
    if not outcomes:
        return None
    endings = ending_texts(position, kind)
    return kind << 16 | endings.index(action) if action in endings else None


def _read(action: str, word: str, rest: str) -> int | None:
    """Return the move whose string is exactly `action`, or None."""
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
    return move if _write(kind, a, b) == action else None


def _numbers(kind: int, arguments: list[str]) -> tuple[int, int] | None:
    """Return the two numbers of a move, 0 for one that its kind lacks, or None."""
    tables = _tables(kind)
    if len(arguments) != len(tables):
        return None
    numbers = [0, 0]
    for i, table in enumerate(tables):
        number = table.get(arguments[i])
        if number is None:
            return None
        numbers[i] = number
    return numbers[0], numbers[1]


def _tables(kind: int) -> tuple[dict[str, int], ...]:
    """Return what the arguments of a kind of move may be, with their numbers."""
    if kind in _PLAIN:
        return ()
    if kind in (FIRST, STACK):
        return (_SIZES,)
    if kind == KEEP:
        return (CARD_IDS, _DECK_ENDS)
    if kind == UNDER_KNIGHT:
        return (NUMBERS, _SOURCES)
    if kind in _SINGLE:
        return (_KING_TARGETS if kind == KING else NUMBERS,)
    return (NUMBERS, NUMBERS)
