"""Evaluate positions by games of a strong policy: the base of turning points and luck.

A game from a position is played to its end. Before each such game, the cards of the
decks whose place no seat knows are shuffled, so that the mean over many games is the
worth of a position before the next cards are drawn. Hands are the real ones: an analyst
sees more than a seat. A seat plays the best whole turn of a narrow beam (`TurnSearch`).
All seats of a game have the evaluation of the house bots (`strategy.py`) with another
taste, which differs from game to game: players with the same taste would repeat the
same mistake in all games from a position. docs/analysis.md explains the figures, and
how well they predict results.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from engine.kernel import Position
from engine.moves import (
    CARD_NAMES,
    DECK_SIZE,
    END,
    KEEPING,
    KING_DUE,
    OVER,
    STACK,
    TURN,
)
from engine.rulesets import PHASES, Rules
from engine.strategy import RoundSearches
from engine.turns import TurnSearch

WIDTH = 1
"""The beam of the policy. Decision 261 compares widths."""
BLUR = 5.0
"""How unsure a final score is, in points for the root of the rounds that are left.

A bot plays otherwise than the policy, so the games of the policy agree too much. This
number was fitted to results of bots (docs/analysis.md).
"""
TASTES = 24
"""The players of the policy, each with another taste."""
SPREAD = 1.4
"""The standard deviation of the logarithm of a factor of a taste."""

# The features whose weights differ, besides those of the cards in a hand.
TASTED = ("castles", "king", "master", "knights", "levels", "climbs", "rivals")
PROMISE = [{"ap": 3.0, "climbs": 4.0}] * (PHASES + 1)


class Outlook(NamedTuple):
    """The worth of a position for each seat, as the mean of some games.

    A lead is the final score minus that of the best rival. A chance is the probability
    to win, after the scores of each game were blurred (`BLUR`). A seat that has
    forfeited wins nothing. Both have standard errors from game to game. `by_game` has
    the chances of each game, and `leads_by_game` its leads: games with the same seed
    and number are comparable.
    """

    games: int
    leads: tuple[float, ...]
    lead_errors: tuple[float, ...]
    chances: tuple[float, ...]
    chance_errors: tuple[float, ...]
    by_game: Sequence[Sequence[float]] = ()
    leads_by_game: Sequence[Sequence[float]] = ()

    @classmethod
    def of(
        cls, leads: Sequence[Sequence[float]], chances: Sequence[Sequence[float]]
    ) -> "Outlook":
        """Return the means of games, each with the leads and the chances by seat."""
        by_seat = list(zip(*leads, strict=True))
        wins = list(zip(*chances, strict=True))
        return cls(
            len(leads),
            tuple(map(_mean, by_seat)),
            tuple(map(_standard_error, by_seat)),
            tuple(map(_mean, wins)),
            tuple(map(_standard_error, wins)),
            chances,
            leads,
        )

    def with_more(self, other: "Outlook") -> "Outlook":
        """Return the outlook of the games of both. No game may be in both."""
        return self.of(
            [*self.leads_by_game, *other.leads_by_game],
            [*self.by_game, *other.by_game],
        )

    def change_error(self, before: "Outlook", seat: int) -> float:
        """Return the standard error of the change of a chance since another outlook.

        If both have games with the same numbers, these have the same taste and nearly
        the same draws, and their differences vary less than the games do.
        """
        if len(self.by_game) != len(before.by_game):
            return math.hypot(self.chance_errors[seat], before.chance_errors[seat])
        pairs = zip(self.by_game, before.by_game, strict=True)
        return _standard_error([after[seat] - first[seat] for after, first in pairs])


class Policy:
    """Plays games from any position of a ruleset, the same for the same seed."""

    def __init__(self, rules: Rules, width: int = WIDTH) -> None:
        self.rules = rules
        self._width = width
        rng = Random("tastes")  # noqa: S311 -- no secret
        search = RoundSearches(rules, PROMISE).search
        self._players = [_player(rules, rng, search) for _ in range(TASTES)]

    def outlook(
        self,
        start: Callable[[Random], Position],
        games: int,
        seed: str,
        forfeited: Sequence[int] = (),
        first: int = 0,
    ) -> Outlook:
        """Return the mean of some games, each from a position that `start` makes.

        `start` gets the random numbers of the game, which follow from the seed and the
        number of the game. The first game has the number `first`. Seats that have
        forfeited give their prescribed answers.
        """
        leads: list[list[int]] = []
        chances: list[list[float]] = []
        for number in range(first, first + games):
            rng = Random(f"{seed} {number}")  # noqa: S311 -- no secret
            position = start(rng)
            blur = BLUR * math.sqrt(self._rounds_left(position))
            over = self.play_to_end(position, number, rng, forfeited)
            scores = list(over.track.scores[: over.seats])
            leads.append(_leads(scores, forfeited))
            chances.append(_chances(scores, blur, forfeited))
        return Outlook.of(leads, chances)

    def _rounds_left(self, position: Position) -> int:
        """Return the rounds to play, with the present one; at least one."""
        rounds = [len(stacks) for stacks in self.rules.stacks]
        if position.decision == OVER or not position.phase:
            return sum(rounds) if position.decision != OVER else 1
        present = rounds[position.phase - 1] - position.round + 1
        return max(1, present + sum(rounds[position.phase :]))

    def play_to_end(
        self,
        position: Position,
        number: int,
        rng: Random,
        forfeited: Sequence[int] = (),
    ) -> Position:
        """Return the end of game `number` from a position, which may change.

        The tastes take turns, so that each plays as many games as another.
        """
        player = self._players[number % TASTES]
        while position.decision != OVER:
            if position.seat in forfeited:
                position.perform(_automatic(position))
            else:
                position = play_on(position, player, self._width, rng)
        return position


def play_on(
    position: Position, player: RoundSearches, width: int, rng: Random
) -> Position:
    """Return the position after one turn or other decision; `position` changes."""
    seat, decision = position.seat, position.decision
    if not position.phase or decision not in (TURN, KEEPING, KING_DUE):
        position.perform(rng.choice(position.legal()))
        return position
    turn = player.of(position).best(position, width, 1)[0]
    if decision == KING_DUE:  # the search goes on with the turn after it
        position.perform(turn.moves[0])
        return position
    after = turn.position
    if after.decision == TURN and after.seat == seat:
        after.perform(END << 16)  # the first way to leave the blocks left over
    return after


def _player(rules: Rules, rng: Random, search: TurnSearch) -> RoundSearches:
    """Return a player with a taste of its own, who shares a search with others."""

    def varied(weights: Iterable[str]) -> dict[str, float]:
        return {name: math.exp(rng.gauss(0, SPREAD)) for name in weights}

    taste = varied((*TASTED, *(f"hand_{name}" for name in CARD_NAMES)))
    factors = varied(PROMISE[0])
    promise = [{name: n * factors[name] for name, n in row.items()} for row in PROMISE]
    return RoundSearches(rules, promise, taste, search)


def reshuffled(position: Position, rng: Random) -> Position:
    """Return a copy in which the cards that nobody can know are shuffled.

    These are the cards in the decks, without those that a seat put back itself. A seat
    that draws one of the latter depends on that seat, and not on chance.
    """
    copy = position.copy()
    cards = copy.cards
    deck = list(cards.deck)
    for pile in range(cards.decks):
        first = pile * DECK_SIZE
        unknown = [
            i for i in range(first, first + cards.left[pile]) if not cards.knowers[i]
        ]
        shuffled = [deck[i] for i in unknown]
        rng.shuffle(shuffled)
        for i, card in zip(unknown, shuffled, strict=True):
            deck[i] = card
    cards.deck = deck
    return copy


def _automatic(position: Position) -> int:
    """Return the next move of a forfeited seat: as short as the rules permit."""
    legal = position.legal()
    if position.decision == KING_DUE:
        return legal[-1]  # `king stay`, if it is legal
    ends = [move for kind in (END, STACK) for move in legal if move >> 16 == kind]
    return ends[0] if ends and position.decision == TURN else legal[0]


def _leads(scores: Sequence[int], forfeited: Sequence[int]) -> list[int]:
    """Return by seat the final score minus that of the best rival that still plays."""
    seats = range(len(scores))
    return [
        scores[seat] - max(scores[s] for s in seats if s != seat and s not in forfeited)
        for seat in seats
    ]


def _chances(
    scores: Sequence[int], blur: float, forfeited: Sequence[int]
) -> list[float]:
    """Return the probability of each seat to win if its score is blurred.

    This is the softmax of the scores: the exact one for errors of a Gumbel
    distribution, for any number of seats.
    """
    best = max(scores)
    shares = [
        0.0 if seat in forfeited else math.exp((score - best) / blur)
        for seat, score in enumerate(scores)
    ]
    return [share / sum(shares) for share in shares]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _standard_error(values: Sequence[float]) -> float:
    mean = _mean(values)
    spread = sum((value - mean) ** 2 for value in values)
    return math.sqrt(spread / max(1, len(values) - 1) / len(values))
