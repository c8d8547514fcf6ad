"""The `state` of docs/contract.md, section 8: a seat's view of a position, or all."""

from collections.abc import Sequence

from engine.kernel import Position
from engine.moves import CARD_COUNT, CARD_NAMES, DECK_SIZE, MASTER_NAMES, SPACES
from engine.rulesets import Rules


def spaces_of(mask: int) -> list[str]:
    """Return the names of a set of spaces, in ASCII order."""
    names = []
    while mask:
        lowest = mask & -mask
        names.append(SPACES[lowest.bit_length() - 1])
        mask ^= lowest
    return names


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
    start = pile * DECK_SIZE
    cards = position.cards.deck[start : start + position.cards.left[pile]]
    return [CARD_NAMES[card] for card in reversed(cards)]


def drawn(position: Position) -> list[str] | None:
    """Return the cards to choose from during `keep`, in the order drawn."""
    cards = position.cards
    return [CARD_NAMES[card] for card in cards.drawn[: cards.draws]] or None


def discards(position: Position, seat: int) -> list[str]:
    """Return the cards that a seat played, in the order played."""
    start = seat * DECK_SIZE
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
    """Return the state as a seat sees it, or with nothing hidden if `seat` is None.

    Decks and the hands of other seats are hidden (rule 21).

    The keys have the order of docs/contract.md, section 8. `heights` is
    `[row][column]` from row 1 up.
    """
    seats = range(rules.seats)
    piles = range(rules.deck_count)
    board = position.board
    stock = position.stock
    cards = position.cards
    heights = board.height
    result: dict[str, object] = {
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
        result["drawn"] = drawn(position)
        result["fresh"] = fresh(position)
        result["hands"] = [hand(position, s) for s in seats]
        result["decks"] = [deck(position, pile) for pile in piles]
    else:
        result["hand"] = hand(position, seat)
        result["drawn"] = drawn(position) if seat == position.seat else None
        result["fresh"] = fresh(position) if seat == position.seat else []
        result["hands"] = [len(hand(position, s)) for s in seats]
        result["decks"] = list(cards.left[: rules.deck_count])
    result["discards"] = [discards(position, s) for s in seats]
    master = position.track.master
    result["master"] = MASTER_NAMES[master] if master >= 0 else None
    result["forfeited"] = list(forfeited)
    return result
