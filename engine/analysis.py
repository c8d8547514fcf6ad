"""Evaluate positions by games of a strong policy: the base of turning points and luck.

A game from a position is played to its end. Before each such game, the cards of the
decks whose place no seat knows are shuffled, so that the mean over many games is the
worth of a position before the next cards are drawn. Hands are the real ones: an analyst
sees more than a seat. All seats play alike: the best whole turn of a narrow beam
(`TurnSearch`), with the evaluation of the house bots (`strategy.py`). docs/analysis.md
explains the figures, and how well they predict results.
"""

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from engine.kernel import Position
from engine.moves import (
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

WIDTH = 2
"""The beam of the policy. docs/analysis.md compares widths."""
BLUR = 7.0
"""How unsure a final score is, in points for the root of the rounds that are left.

A bot plays otherwise than the policy, so the games of the policy agree too much. This
number was fitted to results of bots, and checked with others (docs/analysis.md).
"""

PROMISE = [{"ap": 3.0, "climbs": 4.0}] * (PHASES + 1)


class Outlook(NamedTuple):
    """The worth of a position for each seat, as the mean of some games.

    A lead is the final score minus that of the best rival. A chance is the probability
    to win, after the scores of each game were blurred (`BLUR`). A seat that has
    forfeited wins nothing. Both have standard errors from game to game.
    """

    games: int
    leads: tuple[float, ...]
    lead_errors: tuple[float, ...]
    chances: tuple[float, ...]
    chance_errors: tuple[float, ...]


class Policy:
    """Plays games from any position of a ruleset, the same for the same seed."""

    def __init__(self, rules: Rules, width: int = WIDTH) -> None:
        self.rules = rules
        self._width = width
        self._searches = RoundSearches(rules, PROMISE)

    def outlook(
        self,
        start: Callable[[Random], Position],
        games: int,
        seed: str,
        forfeited: Sequence[int] = (),
    ) -> Outlook:
        """Return the mean of some games, each from a position that `start` makes.

        `start` gets the random numbers of the game. Seats that have forfeited give
        their prescribed answers.
        """
        leads: list[list[int]] = []
        chances: list[list[float]] = []
        for number in range(games):
            rng = Random(f"{seed} {number}")  # noqa: S311 -- no secret
            position = start(rng)
            blur = BLUR * math.sqrt(self._rounds_left(position))
            over = self.play_to_end(position, rng, forfeited)
            scores = list(over.track.scores[: over.seats])
            leads.append(_leads(scores, forfeited))
            chances.append(_chances(scores, blur, forfeited))
        by_seat = list(zip(*leads, strict=True))
        wins = list(zip(*chances, strict=True))
        return Outlook(
            games,
            tuple(map(_mean, by_seat)),
            tuple(map(_standard_error, by_seat)),
            tuple(map(_mean, wins)),
            tuple(map(_standard_error, wins)),
        )

    def _rounds_left(self, position: Position) -> int:
        """Return the rounds to play, with the present one; at least one."""
        rounds = [len(stacks) for stacks in self.rules.stacks]
        if position.decision == OVER or not position.phase:
            return sum(rounds) if position.decision != OVER else 1
        present = rounds[position.phase - 1] - position.round + 1
        return max(1, present + sum(rounds[position.phase :]))

    def play_to_end(
        self, position: Position, rng: Random, forfeited: Sequence[int] = ()
    ) -> Position:
        """Return the end of a game from a position, which may change."""
        while position.decision != OVER:
            position = self.step(position, rng, forfeited)
        return position

    def step(
        self, position: Position, rng: Random, forfeited: Sequence[int] = ()
    ) -> Position:
        """Return the position after one turn or other decision; `position` changes."""
        if position.seat in forfeited:
            position.perform(_automatic(position))
        elif position.phase and position.decision in (TURN, KEEPING, KING_DUE):
            return self._turn(position)
        else:
            position.perform(rng.choice(position.legal()))
        return position

    def _turn(self, position: Position) -> Position:
        """Return the position after the best turn of the seat that decides."""
        seat, decision = position.seat, position.decision
        turn = self._searches.of(position).best(position, self._width, 1)[0]
        if decision == KING_DUE:  # the search goes on with the turn after it
            position.perform(turn.moves[0])
            return position
        after = turn.position
        if after.decision == TURN and after.seat == seat:
            after.perform(END << 16)  # the first way to leave the blocks left over
        return after


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
