"""The random part of the set-up: the first seat, the decks, the master card.

The algorithm depends on SHA-256 only, so that a seed gives the same game with every
Python. It has a name with a version; a change of the algorithm needs a new name.
Replays contain the resulting set-up and do not need the algorithm.
"""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass

from engine.rulesets import CARDS, MASTERS, Rules

ALGORITHM = "torres-setup/1"
_WORD = 2**64


@dataclass(frozen=True, slots=True)
class Setup:
    """The set-up of one game.

    `decks` have the top card first: one deck for each seat, one for all, or none.
    """

    first: int
    decks: tuple[tuple[str, ...], ...]
    master: str | None


class Stream:
    """A stream of random integers from a seed.

    They are SHA-256 of the algorithm's name, the seed and a counter.
    """

    def __init__(self, seed: str) -> None:
        self._words = _words(seed)

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1, all with the same probability."""
        fair = _WORD - _WORD % bound
        return next(word for word in self._words if word < fair) % bound

    def shuffled(self, items: tuple[str, ...]) -> tuple[str, ...]:
        """Return the items shuffled (Fisher-Yates, from the last index down)."""
        pile = list(items)
        for last in range(len(pile) - 1, 0, -1):
            other = self.below(last + 1)
            pile[last], pile[other] = pile[other], pile[last]
        return tuple(pile)


def _words(seed: str) -> Iterator[int]:
    prefix = ALGORITHM.encode() + b"\0" + seed.encode("utf-8", "surrogatepass") + b"\0"
    counter = 0
    while True:
        digest = hashlib.sha256(prefix + counter.to_bytes(8, "big")).digest()
        for start in range(0, len(digest), 8):
            yield int.from_bytes(digest[start : start + 8], "big")
        counter += 1


def derive(rules: Rules, seed: str) -> Setup:
    """Return the set-up of a seed (rules 16, 20 and 69).

    The order of the draws is part of the algorithm: the first seat, the decks by seat,
    the master card. A draw that the rules do not need is left out.
    """
    stream = Stream(seed)
    first = stream.below(rules.seats) if rules.start_player == "random" else 0
    deck = CARDS * rules.copies
    decks = tuple(stream.shuffled(deck) for _ in range(rules.deck_count))
    master = MASTERS[stream.below(len(MASTERS))] if rules.master_card else None
    return Setup(first, decks, master)


def derive_seed(seed: str, seat: int) -> str:
    """Return the seed for a seat's bot; it does not reveal the game's seed."""
    key = seed.encode("utf-8", "surrogatepass")
    return hmac.new(key, str(seat).encode(), hashlib.sha256).hexdigest()
