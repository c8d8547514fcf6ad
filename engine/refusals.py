"""Explain why an action is illegal: the rule that it breaks, with its number.

The module is used only for actions that the kernel has already refused. It decides
nothing: it returns the first condition that fails, and uses the board's own methods if
the board has one for the condition. docs/rules.md has the rules and rulings (D-…).
"""

from collections.abc import Iterator

from engine import notation
from engine.kernel import Position
from engine.moves import (
    ADD,
    BLOCK,
    BUY,
    CARD_COUNT,
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
from engine.rulesets import ADD_COST

_DECISION_OF = {
    FOUND: Decision.FOUND,
    ENTER: Decision.ENTER,
    KING: Decision.KING,
    FIRST: Decision.FIRST,
    KEEP: Decision.KEEP,
    STOCK: Decision.STOCK,
}
_CARDS = range(PLAY, PLAY + CARD_COUNT)


def reason(position: Position, action: str) -> str:
    """Return a clause that names the rule that an illegal action breaks."""
    move = notation.move_of(position, action)
    if move is None:
        return _unreadable(position, action)
    kind = move >> 16
    if _DECISION_OF.get(kind, Decision.TURN) is not DECISIONS[position.decision]:
        return _wrong_decision(position)
    failures = _failures(position, kind, (move >> 8) & 0xFF, move & 0xFF)
    unknown = "it is not among the legal actions (docs/contract.md, section 4)"
    return next(failures, unknown)


def _wrong_decision(position: Position) -> str:
    decision = DECISIONS[position.decision]
    return f"the present decision is {decision} (docs/contract.md, section 3)"


def _unreadable(position: Position, action: str) -> str:
    word = action.partition(" ")[0]
    if word not in ("end", "stock"):
        return "it does not have the form of an action (docs/contract.md, section 4)"
    if position.decision != (TURN if word == "end" else STOCK_DUE):
        return _wrong_decision(position)
    if word == "stock":
        return "the carried blocks cannot make stacks of these sizes (rule 28)"
    if position.stock.current < 0:
        return "take a stack before the end of the turn (rule 25)"
    return "the left-over blocks cannot make stacks of these sizes (rule 27)"


def _failures(position: Position, kind: int, a: int, b: int) -> Iterator[str]:
    """Yield the conditions that fail, the most important first."""
    yield from _card(position, kind) if kind in _CARDS else _costs(position, kind)
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
    return _unreachable(position, kind, a, b)


def _costs(position: Position, kind: int) -> Iterator[str]:
    """Yield what is missing for an action of a turn (rule 30)."""
    cost = {ADD: ADD_COST, BLOCK: 1, BUY: 1, MOVE: 1, SCORE: 1}.get(kind, 0)
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
        yield "take a stack before the first block (rule 25)"
    if position.stock.current == 0:
        yield "no block is left on the current stack (rule 25)"
    if position.placed >= position.max_blocks:
        yield "no more blocks may be placed this turn (rule 26)"


def _card(position: Position, kind: int) -> Iterator[str]:
    card = kind - PLAY
    cards = position.cards
    if position.played:
        yield "a card was played this turn (rule 51)"
    if cards.hand[position.seat * CARD_COUNT + card] == 0:
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
    """Yield why a block cannot be placed on a space (rules 44, 45)."""
    board = position.board
    if _has(board.pieces, space):
        yield "the space is occupied (rule 45)"
    if board.height[space]:
        yield "the castle would be higher than its area (rules 10, 44)"
    if _has(board.seams, space):
        yield "it would join two castles (rules 11, 45)"
    yield "it is next to no castle (rule 45)"


def _not_added(position: Position, space: int) -> Iterator[str]:
    if _has(position.board.pieces, space):
        yield "the space is occupied (rule 12)"
    yield "no own knight beside it is as high (rules 32, 33)"


def _not_kept(position: Position, card: int) -> Iterator[str]:
    cards = position.cards
    if card not in cards.drawn[: cards.draws]:
        yield "the card was not drawn (rule 47)"
    yield "the deck is empty, so only top is possible (D-17)"


def _stack(position: Position, size: int) -> Iterator[str]:
    if position.stock.current >= 0:
        yield "a stack was already taken this turn (rule 25)"
    yield f"there is no stack of {size} (rule 25)"


def _no_seat(position: Position, seat: int) -> Iterator[str]:
    yield f"there is no seat {seat} among {position.seats} (rule 61)"


_NAMED = {ADD: _not_added, KEEP: _not_kept, STACK: _stack, FIRST: _no_seat}


def _own(position: Position, space: int) -> Iterator[str]:
    if not _has(position.board.knights[position.seat], space):
        yield "no knight of the seat stands there (rules 32, 35)"


def _under(position: Position, space: int, source: int) -> Iterator[str]:
    yield from _own(position, space)
    board = position.board
    if not _has(board.under_knight(position.seat), space):
        if board.height[space]:
            yield "the castle would be higher than its area (rules 10, 52)"
        yield "it would join two castles (rules 11, 52)"
    if source == CURRENT:
        yield "there is no block on a current stack (D-16)"
    yield "no other stack of that size has a block (D-16)"


def _moved_block(position: Position, source: int, target: int) -> Iterator[str]:
    board = position.board
    if not _has(board.loose(), source):
        yield "the source must have one block and no piece (rule 52)"
    if _has(board.pieces, target) or board.height[target]:
        yield "the target must have no block and no piece (rule 52)"
    yield (
        "it would divide or join castles, leave one higher than its area, or leave "
        "fewer than six castles (rule 52)"
    )


_UNREACHABLE = {
    MOVE: "neither a step nor the doors of one castle lead there (rules 35 to 41)",
    UP2: "the target is not adjacent and exactly two levels higher (rule 52)",
    DIAGONAL: "the target is not diagonal, or too high (rule 52)",
    JUMP: "the target is not straight behind one knight, or too high (rule 52)",
    REGROUP: "no other own knight beside the target is as high (rule 52)",
    DOOR_UP: "no castle with a door leads there (rule 52)",
}


def _unreachable(
    position: Position, kind: int, source: int, target: int
) -> Iterator[str]:
    yield from _own(position, source)
    if _has(position.board.pieces, target):
        yield "the target is occupied (rule 36)"
    yield _UNREACHABLE.get(kind, "it is not legal now (docs/contract.md, section 4)")
