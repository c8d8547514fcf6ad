"""Why an action is refused: the rule that it breaks, with its number in the rule book.

Asked only about actions that the kernel has already refused. It decides nothing: it
looks for the first condition that fails, and asks the board for it where the board
knows.
"""

from collections.abc import Iterator

from engine import notation
from engine.kernel import Position
from engine.moves import (
    ADD,
    BLOCK,
    BUY,
    CURRENT,
    DECISIONS,
    DIAGONAL,
    DOOR_UP,
    ENTER,
    EXTRA_BLOCK,
    FIRST,
    FOUND,
    JUMP,
    KEEP,
    KING,
    MOVE,
    MOVE_BLOCK,
    PLAY,
    REGROUP,
    SCORE,
    STACK,
    STAY,
    STOCK,
    STOCK_DUE,
    TURN,
    UNDER_KNIGHT,
    UP2,
    Decision,
)

_DUE = {
    FOUND: Decision.FOUND,
    ENTER: Decision.ENTER,
    KING: Decision.KING,
    FIRST: Decision.FIRST,
    KEEP: Decision.KEEP,
    STOCK: Decision.STOCK,
}
_CARDS = range(PLAY, PLAY + 10)


def reason(position: Position, action: str) -> str:
    """Return the rule that an illegal action breaks, as a clause with its number."""
    move = notation.move_of(position, action)
    if move is None:
        return _unreadable(position, action)
    kind = move >> 16
    if _DUE.get(kind, Decision.TURN) is not DECISIONS[position.decision]:
        return _not_due(position)
    found = next(_broken(position, kind, (move >> 8) & 0xFF, move & 0xFF), None)
    return found or "it is not among the legal actions (contract.md, section 4)"


def _not_due(position: Position) -> str:
    due = DECISIONS[position.decision]
    return f"the decision that is due is {due} (contract.md, section 3)"


def _unreadable(position: Position, action: str) -> str:
    word = action.partition(" ")[0]
    if word not in ("end", "stock"):
        return "no action is written so (contract.md, section 4)"
    if position.decision != (TURN if word == "end" else STOCK_DUE):
        return _not_due(position)
    if word == "stock":
        return "these are not sizes that the carried blocks can make (rule 28)"
    if position.stock.current < 0:
        return "a stack must be taken before the end (rule 25)"
    return "these are not sizes that the left-over blocks can make (rule 27)"


def _broken(position: Position, kind: int, a: int, b: int) -> Iterator[str]:
    """Return the conditions that fail, the most telling first."""
    yield from _card(position, kind) if kind in _CARDS else _means(position, kind)
    yield from _misplaced(position, kind, a, b)


def _misplaced(position: Position, kind: int, a: int, b: int) -> Iterator[str]:
    if kind in (FOUND, ENTER, KING):
        return _piece(position, kind, a)
    if kind in (BLOCK, EXTRA_BLOCK):
        return _site(position, a)
    if kind in (MOVE_BLOCK, UNDER_KNIGHT):
        check = _moved_block if kind == MOVE_BLOCK else _under
        return check(position, a, b)
    if kind in _NAMED:
        return _NAMED[kind](position, a)
    return _walked(position, kind, a, b)


def _means(position: Position, kind: int) -> Iterator[str]:
    """Return what an action of a turn costs (rule 30), and its supply."""
    cost = {ADD: 2, BLOCK: 1, BUY: 1, MOVE: 1, SCORE: 1}.get(kind, 0)
    if position.ap < cost:
        yield f"it costs {cost} AP and {position.ap} are left (rule 30)"
    if kind == ADD and position.reserve[position.seat] == 0:
        yield "all six knights are on the board (rule 31)"
    if kind == BUY:
        if position.bought >= position.max_buys:
            yield "no more cards may be bought this turn (rule 47)"
        yield "there is no card to buy (rule 50)"
    if kind == BLOCK:
        yield from _blocks(position)


def _blocks(position: Position) -> Iterator[str]:
    if position.stock.current < 0:
        yield "a stack must be taken before the first block (rule 25)"
    if position.stock.current == 0:
        yield "no block is left on the current stack (rule 25)"
    if position.placed >= position.max_blocks:
        yield "no more blocks may be placed this turn (rule 26)"


def _card(position: Position, kind: int) -> Iterator[str]:
    card = kind - PLAY
    cards = position.cards
    if position.played:
        yield "a card was played this turn (rule 51)"
    held = cards.hand[position.seat * 10 + card]
    if held == 0:
        yield "the card is not in the hand (rule 51)"
    if not cards.ready >> card & 1:
        yield "the card was bought this turn (rule 49)"
    if kind == EXTRA_BLOCK and position.stock.supply == 0:
        yield "the supply has no block left (D-18)"


def _has(spaces: int, space: int) -> bool:
    return bool(spaces >> space & 1)


def _piece(position: Position, kind: int, space: int) -> Iterator[str]:
    board = position.board
    if space == STAY:
        yield "the king is not on the board yet (rule 18)"
    elif _has(board.pieces, space):
        yield "the space is occupied (rule 12)"
    elif kind == FOUND:
        yield "it is less than 3 steps from another start block (rule 66)"
    elif kind == ENTER:
        yield "there is no castle (rule 17)"
    else:
        yield "there is no block (rules 18, 60)"


def _site(position: Position, space: int) -> Iterator[str]:
    """Return a place for a block (rules 44, 45)."""
    board = position.board
    if _has(board.pieces, space):
        yield "the space is occupied (rule 45)"
    if board.height[space]:
        yield "the castle would be higher than its area (rules 10, 44)"
    if _has(board.seams, space):
        yield "it would join two castles (rules 11, 45)"
    yield "it is next to no castle (rule 45)"


def _added(position: Position, space: int) -> Iterator[str]:
    if _has(position.board.pieces, space):
        yield "the space is occupied (rule 12)"
    yield "no own knight beside it is as high (rules 32, 33)"


def _kept(position: Position, card: int) -> Iterator[str]:
    cards = position.cards
    if card not in cards.drawn[: cards.draws]:
        yield "the card was not drawn (rule 47)"
    yield "no card is left in the deck, so top it is (D-17)"


def _stack(position: Position, size: int) -> Iterator[str]:
    if position.stock.current >= 0:
        yield "the turn's stack is already taken (rule 25)"
    yield f"there is no stack of {size} (rule 25)"


def _named_first(position: Position, seat: int) -> Iterator[str]:
    yield f"there is no seat {seat} among {position.seats} (rule 61)"


_NAMED = {ADD: _added, KEEP: _kept, STACK: _stack, FIRST: _named_first}


def _own(position: Position, space: int) -> Iterator[str]:
    if not _has(position.board.knights[position.seat], space):
        yield "there is no own knight (rules 32, 35)"


def _under(position: Position, space: int, source: int) -> Iterator[str]:
    yield from _own(position, space)
    board = position.board
    if not _has(board.under_knight(position.seat), space):
        if board.height[space]:
            yield "the castle would be higher than its area (rules 10, 52)"
        yield "it would join two castles (rules 11, 52)"
    if source == CURRENT:
        yield "there is no block on a current stack (D-16)"
    yield "there is no other stack of that size with a block (D-16)"


def _moved_block(position: Position, source: int, target: int) -> Iterator[str]:
    board = position.board
    if not _has(board.loose(), source):
        yield "the block taken must be one high and empty (rule 52)"
    if _has(board.pieces, target) or board.height[target]:
        yield "the target must be bare and empty (rule 52)"
    yield (
        "it would divide, join or shrink castles as is not allowed, or leave fewer "
        "than six (rule 52)"
    )


_FAR = {
    MOVE: "neither a step nor one castle's doors lead there (rules 35 to 41)",
    UP2: "it is not adjacent and exactly two levels higher (rule 52)",
    DIAGONAL: "it is not diagonal, or more than one level higher (rule 52)",
    JUMP: "it is not straight behind one knight, or too high (rule 52)",
    REGROUP: "no other own knight beside it is as high (rule 52)",
    DOOR_UP: "no castle with a door leads there (rule 52)",
}


def _walked(position: Position, kind: int, source: int, target: int) -> Iterator[str]:
    yield from _own(position, source)
    if _has(position.board.pieces, target):
        yield "the target is occupied (rule 36)"
    yield _FAR.get(kind, "it is not legal now (contract.md, section 4)")
