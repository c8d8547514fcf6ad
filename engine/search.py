"""Positions for bots that search: from a seat's view, with the hidden cards guessed.

`Position` (kernel.py) has `legal`, `apply`, `undo`, `copy` and `playout` on integer
moves; notation.py translates moves to action strings. playouts.py and evaluation.py
work on many positions in one call. docs/search.md describes all of it with examples.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from engine import view
from engine.board import Board
from engine.kernel import Position
from engine.moves import (
    CARD_COUNT,
    CARD_IDS,
    DECISIONS,
    DECK_SIZE,
    KEEPING,
    NUMBERS,
    OVER,
    TURN,
    Decision,
)
from engine.rulesets import CARDS, MAX_SEATS, Rules
from engine.setup import Setup

_OVER = "over"  # in place of a decision: the game is over


class Castle(NamedTuple):
    """One castle: its spaces, one bit each, and what decides about its points."""

    spaces: int
    area: int
    height: int
    levels: tuple[int | None, ...]
    """By seat: the level of the highest knight in it, None without a knight."""
    king: bool


def castles_of(position: Position) -> list[Castle]:
    """Return the castles in the order of their first spaces."""
    board = position.board
    castles = [
        Castle(
            spaces,
            board.area(spaces),
            board.top(spaces),
            tuple(
                board.highest(mine) if (mine := spaces & board.knights[seat]) else None
                for seat in range(position.seats)
            ),
            board.king >= 0 and bool(spaces >> board.king & 1),
        )
        for spaces in board.castle[: board.castles]
    ]
    return sorted(castles, key=lambda castle: board.lowest(castle.spaces))


def ranks_of(position: Position) -> list[int]:
    """Return the 1-based ranks by seat that the present scores give.

    Equal scores share the better rank. A position knows nothing of forfeits.
    """
    scores = list(position.track.scores[: position.seats])
    return [1 + sum(other > score for other in scores) for score in scores]


def determinize(position: Position, seat: int, rng: Random) -> Position:
    """Return a copy in which the cards that the seat cannot know are dealt at random.

    These are the decks, the hands of other seats and the cards that another seat has
    drawn. Cards that the seat itself put back into a deck keep their place.
    """
    guess = position.copy()
    own_decks = guess.cards.decks > 1
    for pile in range(guess.cards.decks):
        others = [pile] if own_decks else list(range(guess.seats))
        _deal_again(guess, pile, [s for s in others if s != seat], seat, rng)
    return guess


def _deal_again(
    guess: Position, pile: int, holders: list[int], seat: int, rng: Random
) -> None:
    """Deal the unknown cards of a deck, of the holders' hands and of `drawn` again."""
    cards = guess.cards
    deck = list(cards.deck)
    knowers = list(cards.knowers)
    start = pile * DECK_SIZE
    unknown = [
        i for i in range(start, start + cards.left[pile]) if not knowers[i] >> seat & 1
    ]
    drawn = list(cards.drawn)
    hidden = range(cards.draws if guess.seat in holders else 0)
    hands = {holder: _hand(guess, holder) for holder in holders}
    pool = [deck[i] for i in unknown] + [drawn[i] for i in hidden]
    pool += [card for hand in hands.values() for card in hand]
    rng.shuffle(pool)
    for i in unknown:
        deck[i] = pool.pop()
    for i in hidden:
        drawn[i] = pool.pop()
    cards.deck = deck
    cards.drawn = drawn
    for holder, hand in hands.items():
        _give(guess, holder, [pool.pop() for _ in hand])


def _hand(position: Position, seat: int) -> list[int]:
    return [CARD_IDS[name] for name in view.hand(position, seat)]


def _give(position: Position, seat: int, hand: list[int]) -> None:
    """Set a seat's hand, given with the cards bought this turn at its end."""
    for card in range(CARD_COUNT):
        position.cards.give(seat, card, hand.count(card))
    if seat == position.seat and position.decision in (TURN, KEEPING):
        bought = position.bought - (position.decision == KEEPING)
        old = max(0, len(hand) - bought)
        _set_playable(position, hand[:old], hand[old:])


def _set_playable(position: Position, old: list[int], fresh: list[int]) -> None:
    """Set which cards the seat that decides may play: the old ones (rule 49)."""
    position.cards.ready = sum(1 << card for card in set(old))
    position.cards.fresh = [fresh.count(card) for card in range(CARD_COUNT)]


def position_of(
    rules: Rules,
    decision: str,
    state: Mapping[str, Any],
    *,
    rng: Random | None = None,
    bought: Sequence[str] = (),
) -> Position:
    """Return the position of a `state` of docs/contract.md, section 8.

    A state with nothing hidden, as in `torres trace`, gives exactly its position; one
    from a stranger has to come through `position_check.checked_position`. The
    view of the seat that decides gives a position that agrees with it; `rng` deals the
    hidden cards. `decision` is the present decision, or "over".

    Cards that are `fresh` in the state may not be played. For a state without that key,
    `bought` has the cards bought this turn. Raises ValueError if `rng` is missing for a
    view.
    """
    full = _with_cards(rules, state, rng)
    position = Position()
    decks = tuple(tuple(deck) for deck in full["decks"])
    position.set_up(rules, Setup(state["first"], decks, state["master"]))
    _fill_board(position, state)
    for name in ("phase", "round", "first", "ap", "bought", "placed", "played"):
        setattr(position, name, state[name])
    position.decision = _number_of(decision)
    position.seat = -1 if state["seat"] is None else state["seat"]
    position.order = _padded(state["order"], MAX_SEATS)
    position.reserve = _padded(state["reserve"], MAX_SEATS)
    position.track.scores = _padded(state["scores"], MAX_SEATS)
    position.track.scored = _scored(decision, state)
    _fill_stock(position, state)
    _fill_course(position, decision, state)
    _fill_hands(position, full, state.get("fresh", bought))
    return position


def _number_of(decision: str) -> int:
    """Return the kernel's number for a decision, or for "over"."""
    return OVER if decision == _OVER else DECISIONS.index(Decision(decision))


def _padded(numbers: Sequence[int], length: int) -> list[int]:
    return [*numbers, *[0] * (length - len(numbers))]


def _scored(decision: str, state: Mapping[str, Any]) -> int:
    """Return the number of phases that were scored."""
    after = decision in (Decision.KING, Decision.FIRST, _OVER) and state["phase"] > 0
    return int(state["phase"]) if after else max(0, int(state["phase"]) - 1)


def _fill_board(position: Position, state: Mapping[str, Any]) -> None:
    board = position.board = Board()
    for castle in towers_by_castle(state["heights"]):
        for space, height in castle.items():
            for _ in range(height):
                board.place(space)
    for seat, knights in enumerate(state["knights"]):
        for name in knights:
            board.drop(seat, NUMBERS[name])
    if state["king"] is not None:
        board.crown(NUMBERS[state["king"]])


def towers_by_castle(heights: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """Return for each castle the heights of its spaces, each beside an earlier one.

    `heights` is `[row][column]`, as in a state.
    """
    towers = {
        8 * column + row: height
        for row, line in enumerate(heights)
        for column, height in enumerate(line)
        if height
    }
    castles = []
    while towers:
        castle: dict[int, int] = {}
        edge = [min(towers)]
        while edge:
            space = edge.pop()
            if space not in towers:
                continue
            castle[space] = towers.pop(space)
            edge += [n for n in _neighbours(space) if n in towers]
        castles.append(castle)
    return castles


def _neighbours(space: int) -> list[int]:
    column, row = divmod(space, 8)
    around = [
        (column - 1, row),
        (column + 1, row),
        (column, row - 1),
        (column, row + 1),
    ]
    return [8 * c + r for c, r in around if c in range(8) and r in range(8)]


def _fill_stock(position: Position, state: Mapping[str, Any]) -> None:
    stock = position.stock
    for seat, sizes in enumerate(state["stacks"]):
        for size in sizes:
            stock.deal(seat, size)
    stock.supply = state["supply"]
    stock.current = -1 if state["current"] is None else state["current"]
    stock.carried = _padded(state["carried"], MAX_SEATS)


def _fill_course(position: Position, decision: str, state: Mapping[str, Any]) -> None:
    """Set the progress of the set-up, of the round, or of the `stock` decisions."""
    if decision == Decision.FOUND:
        position.setup_step = sum(map(sum, state["heights"]))
    elif decision == Decision.ENTER:
        position.setup_step = sum(map(len, state["knights"]))
    elif decision in (Decision.TURN, Decision.KEEP):
        position.turn = state["order"].index(state["seat"])
    elif decision == Decision.STOCK:
        for seat, blocks in enumerate(state["carried"]):
            if position.stock.outcomes(seat, blocks) > 1:
                position.waiting |= 1 << seat


def _fill_hands(
    position: Position, full: Mapping[str, Any], fresh: Sequence[str]
) -> None:
    cards = position.cards
    drawn = [CARD_IDS[name] for name in full["drawn"] or ()]
    cards.draws = len(drawn)
    cards.drawn = _padded(drawn, 3)
    discard = []
    for played in full["discards"]:
        discard += _padded([CARD_IDS[name] for name in played], DECK_SIZE)
    cards.discard = _padded(discard, MAX_SEATS * DECK_SIZE)
    cards.discards = _padded([len(played) for played in full["discards"]], MAX_SEATS)
    for seat, hand in enumerate(full["hands"]):
        for name, number in CARD_IDS.items():
            cards.give(seat, number, hand.count(name))
        if seat == position.seat:
            old = list(hand)
            for name in fresh:
                old.remove(name)
            bought = [CARD_IDS[name] for name in fresh]
            _set_playable(position, [CARD_IDS[name] for name in old], bought)


def _with_cards(
    rules: Rules, state: Mapping[str, Any], rng: Random | None
) -> dict[str, Any]:
    """Return the cards of a state; `rng` deals the hidden ones from those not seen."""
    cards = {key: state[key] for key in ("hands", "decks", "drawn", "discards")}
    if "hand" not in state:
        return cards
    if rng is None:
        raise ValueError("a seat's view hides cards; pass rng, which deals them")
    me = state["seat"]
    played = state["discards"]
    counts = state["hands"]
    if not rules.deck_count:
        cards["hands"] = [sorted(set(CARDS) - set(names)) for names in played]
        return cards
    hands: list[list[str]] = [[] for _ in counts]
    hands[me] = list(state["hand"])
    decks: list[list[str]] = []
    for pile in range(rules.deck_count):
        holders = [pile] if rules.deck_count > 1 else list(range(rules.seats))
        pool = _unseen(rules, state, holders)
        rng.shuffle(pool)
        for holder in holders:
            if holder != me:
                hands[holder] = [pool.pop() for _ in range(counts[holder])]
        decks.append(pool)
    return cards | {"hands": hands, "decks": decks}


def _unseen(rules: Rules, state: Mapping[str, Any], holders: list[int]) -> list[str]:
    """Return the cards of a deck that the seat that decides has not seen."""
    seen = [card for holder in holders for card in state["discards"][holder]]
    if state["seat"] in holders:
        seen += [*state["hand"], *(state["drawn"] or ())]
    pool = list(CARDS * rules.copies)
    for card in seen:
        pool.remove(card)
    return pool
