"""House bot `champion`: whole turns, played on to the end of the phase.

It imports the package `engine`; docs/search.md describes it. `weights.json` has what
each feature of a position is worth, by the number of seats, learned from self-play
(docs/training.md). At larger tables step 3 is left out: there it takes more time, and
did not make the bot win more. A decision has four steps:

1. Guess the cards that the seat cannot see.
2. Search whole turns with a beam. The best ones are the candidates.
3. Play on from each candidate: every seat plays the best turn that a narrow beam finds,
   until the phase ends. What the last position is worth is a value of the candidate.
   The better half of the candidates is played on in another guess, and so on. Half of
   the time is for the first guess: it says for how many candidates there is time.
4. Answer the best candidate. Its purchases come last, because what a purchase draws is
   not known, and a card cannot be played in the turn in which it was bought.

All time is CPU time, because that is what the ladder charges.
"""

import json
import time
from pathlib import Path

from engine.moves import BUY, END, OVER, TURN
from engine.rulesets import MIN_SEATS
from engine.strategy import LearnedSearches, answer, in_order, speak

LEARNED = json.loads(Path(__file__).with_name("weights.json").read_text())
READING_MS = 20  # of CPU time at most for reading a question
MOVE_SHARE = 0.7  # of the time that is then left for this turn
BANK_SHARE = 0.002  # of the bank, for ladders on which a turn has no time of its own
MAX_S = 0.7  # of CPU time for one answer
BEAM_SHARE = 0.3  # of this time, for the candidates
FIRST_WIDTH = 16  # of the beam that measures the speed
WIDTH = 300
WIDTH_ALONE = 500  # without playing on
CANDIDATES = 32
REPLY_WIDTH = 6
SPARE = 0.8  # of the time that is left: a wider beam is deeper, too
SETUP_S = 0.05
PROMISE = [{"ap": 3.0, "climbs": 4.0}] * 4  # points that these are going to bring


def lead_of(scores, seat):
    """Return the lead of a seat over the best other one."""
    return scores[seat] - max(scores[:seat] + scores[seat + 1 :])


class Planner:
    """Finds the best turn in a position, for all turns of a game."""

    def __init__(self, rules):
        self.rules = rules
        self.plays_on = rules.seats == MIN_SEATS
        learned = LEARNED[str(rules.seats)]
        self.searches = LearnedSearches(rules, learned, PROMISE)

    def candidates(self, position, ends):
        """Return the best turns that a beam finds in the time, best first."""
        most = WIDTH if self.plays_on else WIDTH_ALONE
        search = self.searches.of(position)
        began = time.process_time()
        turns = search.best(position, FIRST_WIDTH, CANDIDATES, ends)
        now = time.process_time()
        width = FIRST_WIDTH * SPARE * (ends - now) / max(now - began, 1e-6)
        if width > FIRST_WIDTH:
            wider = search.best(position, int(min(width, most)), CANDIDATES, ends)
            turns = sorted([*turns, *wider], key=lambda turn: -turn.value)
        return turns

    def plan(self, guess, ends):
        """Return the moves of the best turn, all but `end`; purchases come last.

        `guess` returns the position with the hidden cards dealt again.
        """
        position = guess()
        now = time.process_time()
        share = BEAM_SHARE if self.plays_on else 1.0
        turns = self.candidates(position, now + share * (ends - now))
        plans = []
        for turn in turns:
            moves = in_order(turn.moves)
            if moves not in plans:
                plans.append(moves)
        if not self.plays_on or not plans:
            return plans[0] if plans else []
        return self.best_of(plans[:CANDIDATES], guess, ends)

    def best_of(self, plans, guess, ends):
        """Return the best plan: in each guess, the worse half of them drops out.

        The first guess gets half of the time, and plans that it cannot value drop out.
        The other half is enough for the later guesses: each has half as many plans.
        """
        left = [(0.0, moves) for moves in plans]
        now = time.process_time()
        until = now + (ends - now) / 2
        while len(left) > 1:
            valued = self.valued(left, guess(), until)
            is_first = len(left) == len(plans)
            if not valued or (len(valued) < len(left) and not is_first):
                break
            valued.sort(key=lambda plan: -plan[0])
            left = valued[: (len(valued) + 1) // 2]
            until = ends
        return left[0][1]

    def valued(self, plans, world, ends):
        """Return plans with what they are worth in a guess added, until `ends`."""
        valued = []
        for total, moves in plans:
            value = self.value_of(world, moves, ends)
            if value is None:  # the time is over
                break
            valued.append((total + value, moves))
        return valued

    def value_of(self, world, moves, ends):
        """Return what a plan is worth in a guess; None if the time is over.

        It is the value at the end of the phase if all seats play their best turns.
        """
        position = world.copy()
        for move in moves:
            if not position.attempt(move) or move >> 16 == BUY:
                break
        if position.decision != TURN or position.stock.current < 0:
            position = self.reply(position, ends)
        while position:
            after = position.copy()
            after.perform(END << 16)  # the first way to leave the blocks left over
            if after.decision == OVER:
                return lead_of(list(after.track.scores)[: after.seats], world.seat)
            if after.decision != TURN or after.phase > position.phase:
                evaluator = self.searches.of(position).evaluator
                return evaluator.value(position, world.seat)
            position = self.reply(after, ends)
        return None

    def reply(self, position, ends):
        """Return the position at the end of the best turn; None if time is over."""
        turns = self.searches.of(position).best(position, REPLY_WIDTH, 1, ends)
        # A search without time may find that it is best to do nothing.
        return turns[0].position if time.process_time() <= ends else None


def choose(message, planner, rng):
    """Return the actions of this answer."""
    clock = message["clock"]
    move_ms = max(clock["move_ms"] - READING_MS, 0)
    left_s = (MOVE_SHARE * move_ms + BANK_SHARE * clock["bank_ms"]) / 1000
    seconds = (min(MAX_S, left_s), min(SETUP_S, left_s))

    def plan_turn(position, guess, ends):
        return planner.plan(guess, ends)

    return answer(message, planner.rules, rng, plan_turn, seconds)


if __name__ == "__main__":
    speak("champion", Planner, choose)
