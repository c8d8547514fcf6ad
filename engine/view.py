"""A position as the contract's `state`: one seat's view, or everything."""

from collections.abc import Sequence

from engine.kernel import Position
from engine.moves import CARD_COUNT, CARD_NAMES, MASTER_NAMES, SPACES
from engine.rulesets import Rules

_DECK = 40  # places for a deck in the kernel's arrays


def spaces_of(mask: int) -> list[str]:
    """Return the names of a set of spaces, in ASCII order."""
    return [name for number, name in enumerate(SPACES) if mask >> number & 1]


def hand(position: Position, seat: int) -> list[str]:
    """Return a seat's cards in ASCII order."""
    return _names(position.cards.hand[seat * CARD_COUNT : (seat + 1) * CARD_COUNT])


def fresh(position: Position) -> list[str]:
    """Return the cards bought this turn, in ASCII order (rule 49)."""
    return _names(position.cards.fresh)


def _names(counts: Sequence[int]) -> list[str]:
    """Return the names of cards, given how many there are of each number."""
    return [name for name, n in zip(CARD_NAMES, counts, strict=True) for _ in range(n)]


def deck(position: Position, pile: int) -> list[str]:
    """Return the cards of a deck, top first."""
    start = pile * _DECK
    cards = position.cards.deck[start : start + position.cards.left[pile]]
    return [CARD_NAMES[card] for card in reversed(cards)]


def drawn(position: Position) -> list[str] | None:
    """Return the cards to choose from during `keep`, in the order drawn."""
    cards = position.cards
    return [CARD_NAMES[card] for card in cards.drawn[: cards.draws]] or None


def discards(position: Position, seat: int) -> list[str]:
    """Return the cards that a seat has played, in the order played."""
    start = seat * _DECK
    cards = position.cards.discard[start : start + position.cards.discards[seat]]
    return [CARD_NAMES[card] for card in cards]


def state(
    position: Position,
    rules: Rules,
    forfeited: list[int],
    seat: int | None,
    *,
    over: bool,
) -> dict[str, object]:
    """Return the state of contract.md, section 8; all is in view if `seat` is None.

    Heights are `[row][column]` from row 1 up; all lists by seat are in the seats'
    order.
    """
    seats = range(rules.seats)
    piles = range(rules.deck_count)
    board, stock, cards = position.board, position.stock, position.cards
    heights = board.height
    seen: dict[str, object] = {
        "phase": position.phase,
        "round": position.round,
        "order": list(position.order[: rules.seats]),
        "first": position.first,
        "seat": None if over else position.seat,
        "ap": position.ap,
        "bought": position.bought,
        "placed": position.placed,
        "played": bool(position.played),
        "heights": [list(heights[row::8]) for row in range(8)],
        "knights": [spaces_of(board.knights[s]) for s in seats],
        "king": SPACES[board.king] if board.king >= 0 else None,
        "reserve": list(position.reserve[: rules.seats]),
        "stacks": [stock.others(s) for s in seats],
        "current": stock.current if stock.current >= 0 else None,
        "carried": list(stock.carried[: rules.seats]),
        "supply": stock.supply,
        "scores": list(position.track.scores[: rules.seats]),
    }
    if seat is None:
        seen["drawn"] = drawn(position)
        seen["fresh"] = fresh(position)
        seen["hands"] = [hand(position, s) for s in seats]
        seen["decks"] = [deck(position, pile) for pile in piles]
    else:
        seen["hand"] = hand(position, seat)
        seen["drawn"] = drawn(position) if seat == position.seat else None
        seen["fresh"] = fresh(position) if seat == position.seat else []
        seen["hands"] = [len(hand(position, s)) for s in seats]
        seen["decks"] = list(cards.left[: rules.deck_count])
    seen["discards"] = [discards(position, s) for s in seats]
    master = position.track.master
    seen["master"] = MASTER_NAMES[master] if master >= 0 else None
    seen["forfeited"] = list(forfeited)
    return seen
