"""Action cards: decks, hands, purchases, discards (rules 20, 21 and 47-51).

Cards are numbers in the ASCII order of their names. A deck is stored with its top card
last. `knowers` holds for each card in a deck the seats, one bit each, that know its
place because they put it back there. engine.search uses this.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.moves import BOTTOM, CARD_COUNT, DECK_SIZE, TOP
from engine.rulesets import MAX_SEATS

_DRAWN = 3  # cards that a purchase draws (rule 47)


class Cards:
    """The decks, and by seat the hands and discards."""

    def __init__(self) -> None:
        self.decks = 0  # their number: one for each seat, one for all, or none
        self.draws = 0  # cards in `drawn`, which wait for `keep`
        self.ready = 0  # cards that may be played this turn, one bit each
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.deck = [0] * (MAX_SEATS * DECK_SIZE)
            self.knowers = [0] * (MAX_SEATS * DECK_SIZE)
            self.left = [0] * MAX_SEATS  # number of cards in each deck
            self.hand = [0] * (MAX_SEATS * CARD_COUNT)  # by seat and card: number held
            self.fresh = [0] * CARD_COUNT  # by card: number bought this turn
            self.drawn = [0] * _DRAWN
            self.discard = [0] * (MAX_SEATS * DECK_SIZE)
            self.discards = [0] * MAX_SEATS

    def assign(self, other: "Cards") -> None:
        """Become a copy of other cards."""
        self.decks = other.decks
        self.draws = other.draws
        self.ready = other.ready
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.deck[:] = other.deck
            self.knowers[:] = other.knowers
            self.left[:] = other.left
            self.hand[:] = other.hand
            self.fresh[:] = other.fresh
            self.drawn[:] = other.drawn
            self.discard[:] = other.discard
            self.discards[:] = other.discards
            return
        for i in range(other.decks * DECK_SIZE):  # pragma: no cover - compiled code
            self.deck[i] = other.deck[i]
            self.knowers[i] = other.knowers[i]
        for i in range(MAX_SEATS * DECK_SIZE):  # pragma: no cover
            self.discard[i] = other.discard[i]
        for i in range(MAX_SEATS * CARD_COUNT):  # pragma: no cover
            self.hand[i] = other.hand[i]
        for i in range(CARD_COUNT):  # pragma: no cover
            self.fresh[i] = other.fresh[i]
        for i in range(_DRAWN):  # pragma: no cover
            self.drawn[i] = other.drawn[i]
        for i in range(MAX_SEATS):  # pragma: no cover
            self.left[i] = other.left[i]
            self.discards[i] = other.discards[i]

    def lay(self, pile: int, deck: list[int]) -> None:
        """Set a deck; `deck` has the top card first."""
        self.left[pile] = len(deck)
        for i, card in enumerate(reversed(deck)):
            self.deck[pile * DECK_SIZE + i] = card
            self.knowers[pile * DECK_SIZE + i] = 0

    def give(self, seat: int, card: int, count: int) -> None:
        """Set how many copies of a card a seat holds."""
        self.hand[seat * CARD_COUNT + card] = count

    def can_keep(self, seat: int, card: int, deck_end: int) -> bool:
        """True if `keep` is legal for a card; `deck_end` is BOTTOM or TOP (D-17).

        With an empty deck only TOP is legal.
        """
        if deck_end > TOP:
            return False
        if deck_end == BOTTOM and self.left[self.pile(seat)] == 0:
            return False
        for i in range(self.draws):  # noqa: SIM110 - as a loop it compiles to C
            if self.drawn[i] == card:
                return True
        return False

    def begin(self, seat: int) -> None:
        """Begin a seat's turn: the cards that it holds now may be played (rule 49)."""
        self.ready = 0
        for card in range(CARD_COUNT):
            if self.hand[seat * CARD_COUNT + card]:
                self.ready |= 1 << card

    def end(self) -> None:
        """End a turn: the cards that were bought in it are no longer fresh."""
        for card in range(CARD_COUNT):
            self.fresh[card] = 0

    def pile(self, seat: int) -> int:
        """Return the number of the deck from which a seat buys, or -1."""
        return seat if self.decks > 1 else self.decks - 1

    def can_buy(self, seat: int) -> bool:
        """True if the seat's deck has a card to buy (rule 50)."""
        pile = self.pile(seat)
        return pile >= 0 and self.left[pile] > 0

    def buy(self, seat: int) -> None:
        """Take the top card (rule 48)."""
        pile = self.pile(seat)
        self.left[pile] -= 1
        self._receive(seat, self.deck[pile * DECK_SIZE + self.left[pile]])

    def draw(self, seat: int) -> None:
        """Draw the top three cards, or all that are left (rules 47, 50)."""
        pile = self.pile(seat)
        self.draws = min(_DRAWN, self.left[pile])
        for i in range(self.draws):
            self.left[pile] -= 1
            self.drawn[i] = self.deck[pile * DECK_SIZE + self.left[pile]]

    def keep(self, seat: int, card: int, deck_end: int) -> None:
        """Keep a drawn card and put the others back (rule 47, D-17).

        1. Choose the first drawn card of that kind.
        2. If the others go to the bottom, move the rest of the deck up to make room.
        3. Put the others back in the order drawn. From now on the seat knows them.
        """
        pile = self.pile(seat)
        base = pile * DECK_SIZE
        chosen = 0
        while chosen < self.draws - 1 and self.drawn[chosen] != card:
            chosen += 1
        back = self.draws - 1
        left = self.left[pile]
        if deck_end == BOTTOM:
            for i in range(left - 1, -1, -1):
                self.deck[base + back + i] = self.deck[base + i]
                self.knowers[base + back + i] = self.knowers[base + i]
            left = 0
        slot = base + left + back
        for i in range(self.draws):
            if i != chosen:
                slot -= 1
                self.deck[slot] = self.drawn[i]
                self.knowers[slot] = 1 << seat
        self.left[pile] += back
        self.draws = 0
        self._receive(seat, card)

    def _receive(self, seat: int, card: int) -> None:
        self.hand[seat * CARD_COUNT + card] += 1
        self.fresh[card] += 1

    def play(self, seat: int, card: int) -> None:
        """Move a card from the seat's hand to its discards (rule 51)."""
        self.hand[seat * CARD_COUNT + card] -= 1
        self.discard[seat * DECK_SIZE + self.discards[seat]] = card
        self.discards[seat] += 1
