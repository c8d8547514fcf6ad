"""House bot `master`: a very wide search of whole turns, in guessed worlds.

It imports the package `engine`; docs/search.md describes it. A decision has four steps:

1. Guess the cards that the seat cannot see.
2. Search whole turns with a narrow beam (`TurnSearch`). The time that it takes says how
   wide a beam can be searched in the rest of the time.
3. Search with that beam. What it keeps in the middle of a turn depends on what the turn
   can still gain: action points that are left, and knights that can climb.
4. Answer the best turn. Its purchases come last, because what a purchase draws is not
   known, and a card cannot be played in the turn in which it was bought.

All time is CPU time, because that is what the ladder charges.
"""

import time

from engine.moves import KING_DUE
from engine.strategy import RoundSearches, answer, in_order, speak

MOVE_SHARE = 0.25  # of the time that is left for this turn
BANK_SHARE = 0.002  # of the bank, for ladders on which a turn has no time of its own
MAX_S = 0.25  # of CPU time for one answer
FIRST_WIDTH = 24  # of the beam that measures the speed
WIDTH = 500
SPARE = 0.8  # of the time that is left: a wider beam is deeper, too
SETUP_S = 0.05
PROMISE = [{"ap": 3.0, "climbs": 4.0}] * 4  # points that these are going to bring


class Planner:
    """Finds the best turn in a position, for all rounds of a game."""

    def __init__(self, rules):
        self.rules = rules
        self.searches = RoundSearches(rules, PROMISE)

    def plan(self, position, ends):
        """Return the moves of the best turn, all but `end`; purchases come last."""
        search = self.searches.of(position)
        began = time.process_time()
        turns = search.best(position, FIRST_WIDTH, 1, ends)
        now = time.process_time()
        width = FIRST_WIDTH * SPARE * (ends - now) / max(now - began, 1e-6)
        if width > FIRST_WIDTH:
            turns += search.best(position, int(min(width, WIDTH)), 1, ends)
        if not turns:
            return []
        moves = max(turns, key=lambda turn: turn.value).moves
        return moves[:1] if position.decision == KING_DUE else in_order(moves)


def choose(message, planner, rng):
    """Return the actions of this answer."""
    clock = message["clock"]
    left_s = (MOVE_SHARE * clock["move_ms"] + BANK_SHARE * clock["bank_ms"]) / 1000
    seconds = (min(MAX_S, left_s), min(SETUP_S, left_s))

    def plan_turn(position, guess, ends):
        return planner.plan(position, ends)

    return answer(message, planner.rules, rng, plan_turn, seconds)


if __name__ == "__main__":
    speak("master", Planner, choose)
