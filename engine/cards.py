"""Action cards: decks, hands, purchases, discards (rules 20, 21 and 47-51).

Cards are numbers in the ASCII order of their names. A deck lies in its array with the
top card last. `knowers` says for each card in a deck which seats (one bit each) know
that it lies there, because they put it there: what a search may rely on.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

_SEATS = 4
_CARDS = 10
_DECK = 40
_DRAWN = 3

_BOTTOM = 0


class Cards:
    """The decks, and by seat the hands and discards."""

    def __init__(self) -> None:
        self.decks = 0  # how many: one a seat, one in all, or none
        self.draws = 0  # cards drawn by a purchase that wait for `keep`
        self.ready = 0  # cards held since an earlier turn, one bit each
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.deck = [0] * (_SEATS * _DECK)
            self.knowers = [0] * (_SEATS * _DECK)
            self.left = [0] * _SEATS  # cards in each deck
            self.hand = [0] * (_SEATS * _CARDS)  # how many of each card
            self.fresh = [0] * _CARDS  # how many of each were bought this turn
            self.drawn = [0] * _DRAWN
            self.discard = [0] * (_SEATS * _DECK)
            self.discards = [0] * _SEATS

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
        for i in range(_SEATS * _DECK):  # pragma: no cover - the compiled twin
            self.deck[i] = other.deck[i]
            self.knowers[i] = other.knowers[i]
            self.discard[i] = other.discard[i]
        for i in range(_SEATS * _CARDS):  # pragma: no cover
            self.hand[i] = other.hand[i]
        for i in range(_CARDS):  # pragma: no cover
            self.fresh[i] = other.fresh[i]
        for i in range(_DRAWN):  # pragma: no cover
            self.drawn[i] = other.drawn[i]
        for i in range(_SEATS):  # pragma: no cover
            self.left[i] = other.left[i]
            self.discards[i] = other.discards[i]

    def lay(self, pile: int, deck: list[int]) -> None:
        """Lay a deck, top card first."""
        self.left[pile] = len(deck)
        for place, card in enumerate(reversed(deck)):
            self.deck[pile * _DECK + place] = card
            self.knowers[pile * _DECK + place] = 0

    def give(self, seat: int, card: int, many: int) -> None:
        """Let a seat hold that many of a card."""
        self.hand[seat * _CARDS + card] = many

    def can_keep(self, seat: int, card: int, where: int) -> bool:
        """Whether a card was drawn; at the bottom of nothing no card can go (D-17)."""
        if where > 1:  # neither the bottom nor the top
            return False
        if where == _BOTTOM and self.left[self.pile(seat)] == 0:
            return False
        for i in range(self.draws):  # noqa: SIM110 - as a loop it compiles to C
            if self.drawn[i] == card:
                return True
        return False

    def begin(self, seat: int) -> None:
        """Begin a seat's turn: what it holds now may be played in it (rule 49)."""
        self.ready = 0
        for card in range(_CARDS):
            if self.hand[seat * _CARDS + card]:
                self.ready |= 1 << card

    def end(self) -> None:
        """End a turn: the cards that were bought in it are no longer fresh."""
        for card in range(_CARDS):
            self.fresh[card] = 0

    def pile(self, seat: int) -> int:
        """Return the number of the deck from which a seat buys, or -1."""
        return seat if self.decks > 1 else self.decks - 1

    def can_buy(self, seat: int) -> bool:
        """Whether there is a card to buy (rule 50)."""
        pile = self.pile(seat)
        return pile >= 0 and self.left[pile] > 0

    def buy(self, seat: int) -> None:
        """Take the top card (rule 48)."""
        pile = self.pile(seat)
        self.left[pile] -= 1
        self._receive(seat, self.deck[pile * _DECK + self.left[pile]])

    def draw(self, seat: int) -> None:
        """Draw the top cards, up to three, to keep one of them (rules 47, 50)."""
        pile = self.pile(seat)
        self.draws = min(_DRAWN, self.left[pile])
        for i in range(self.draws):
            self.left[pile] -= 1
            self.drawn[i] = self.deck[pile * _DECK + self.left[pile]]

    def keep(self, seat: int, card: int, where: int) -> None:
        """Keep a drawn card; the others go back in the order drawn (rule 47, D-17)."""
        pile = self.pile(seat)
        base = pile * _DECK
        kept = 0
        while kept < self.draws - 1 and self.drawn[kept] != card:
            kept += 1
        back = self.draws - 1
        left = self.left[pile]
        if where == _BOTTOM:
            for i in range(left - 1, -1, -1):
                self.deck[base + back + i] = self.deck[base + i]
                self.knowers[base + back + i] = self.knowers[base + i]
            left = 0
        place = base + left + back
        for i in range(self.draws):
            if i != kept:
                place -= 1
                self.deck[place] = self.drawn[i]
                self.knowers[place] = 1 << seat
        self.left[pile] += back
        self.draws = 0
        self._receive(seat, card)

    def _receive(self, seat: int, card: int) -> None:
        self.hand[seat * _CARDS + card] += 1
        self.fresh[card] += 1

    def play(self, seat: int, card: int) -> None:
        """Put a card from the hand on the seat's discards (rule 51)."""
        self.hand[seat * _CARDS + card] -= 1
        self.discard[seat * _DECK + self.discards[seat]] = card
        self.discards[seat] += 1
