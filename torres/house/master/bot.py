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

import json
import random
import sys
import time

from engine import resolve
from engine.evaluation import Evaluator
from engine.moves import BUY, CARD_NAMES, END, KEEP, KEEPING, KING_DUE, TURN
from engine.notation import text
from engine.playouts import average_leads
from engine.search import position_of
from engine.turns import TurnSearch

MOVE_SHARE = 0.25  # of the time that is left for this turn
BANK_SHARE = 0.002  # of the bank, for ladders on which a turn has no time of its own
MAX_S = 0.25  # of CPU time for one answer
FIRST_WIDTH = 24  # of the beam that measures the speed
WIDTH = 500
SPARE = 0.8  # of the time that is left: a wider beam is deeper, too
SETUP_S = 0.05
MAX_GAMES = 16  # random games from each position, for the set-up

# The value of a castle point, by phase: it will score again at the end of each later
# phase, unless somebody spoils it. The first number is for the set-up.
FUTURE = (2.2, 2.2, 1.6, 1.0)
RIVALRY = {2: 0.8, 3: 0.5, 4: 0.4}  # the weight of the best rival's points, by seats
CARDS = dict.fromkeys(CARD_NAMES, 2.4) | {"ap7": 3.0, "jump": 1.8, "move_block": 1.4}
PROMISE = [{"ap": 3.0, "climbs": 4.0}] * 4  # points that these are going to bring


def evaluator_for(rules, phase, round_number):
    """Return the evaluator for a round; it knows how many rounds are left to play."""
    left = len(rules.stacks[phase - 1]) - round_number
    own = []
    for row, future in enumerate(FUTURE):
        cards = min(1.0, 0.35 * left) if row == 3 else 1.0
        own.append(
            {
                "score": 1.0,
                "castles": future,
                "king": 1.0,
                "master": future,
                "knights": future - 0.8 + 0.1 * left,
                "levels": 0.5 * (future - 0.9) + 0.05 * left,
                "climbs": 0.25 * left,
                **{f"hand_{name}": cards * CARDS[name] for name in CARD_NAMES},
            }
        )
    rivalry = RIVALRY[rules.seats]
    rivals = [
        {name: rivalry * n for name, n in row.items() if not name.startswith("hand")}
        for row in own
    ]
    return Evaluator(own, rivals)


class Planner:
    """Finds the best turn in a position, for all rounds of a game."""

    def __init__(self, rules):
        self.rules = rules
        self.searches = {}

    def search(self, position):
        """Return the turn search of a position's round."""
        phase, round_number = position.phase, position.round
        if position.decision == KING_DUE and phase < 3:
            phase, round_number = phase + 1, 1  # the king is put for the next phase
        key = (phase, round_number)
        if key not in self.searches:
            self.searches[key] = TurnSearch(evaluator_for(self.rules, *key), PROMISE)
        return self.searches[key]

    def plan(self, position, ends):
        """Return the moves of the best turn, all but `end`; purchases come last."""
        search = self.search(position)
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


def in_order(moves):
    """Return the moves of a turn with only its first purchase, at the end.

    Only the first move may be a `keep`: the others follow a purchase.
    """
    plain = [
        move
        for number, move in enumerate(moves)
        if move >> 16 != BUY and (move >> 16 != KEEP or number == 0)
    ]
    return [*plain, BUY << 16] if BUY << 16 in moves else plain


def actions_of(position, moves):
    """Return the answer: the actions up to the first purchase, or the whole turn."""
    alone = position.decision == KING_DUE
    actions = []
    for move in moves:
        actions.append(text(position, move))
        position.perform(move)
        if alone or move >> 16 == BUY:
            return actions
    endings = [move for move in position.legal() if move >> 16 == END]
    return actions + [text(position, move) for move in endings[:1]]


def play_out(guess, seat, rng, ends):
    """Return the number of the legal move with the best average in random games.

    It decides about start blocks, first knights, and other rare questions. Each call
    plays twice as many games as the one before, with the hidden cards dealt again.
    """
    games = 1
    totals = [0.0] * len(guess().legal())
    while games <= MAX_GAMES:
        began = time.process_time()
        world = guess()
        children = []
        for move in world.legal():
            child = world.copy()
            child.perform(move)
            children.append(child)
        leads = average_leads(children, seat, games, rng.getrandbits(60))
        totals = [t + games * lead for t, lead in zip(totals, leads, strict=True)]
        now = time.process_time()
        if 2 * (now - began) > ends - now:
            break
        games *= 2
    return totals.index(max(totals))


def choose(message, planner, rng):
    """Return the actions of this answer."""
    legal = message["legal"]
    if len(legal) == 1:
        return legal
    clock = message["clock"]
    left_ms = MOVE_SHARE * clock["move_ms"] + BANK_SHARE * clock["bank_ms"]
    state = message["state"]

    def guess():
        """Return a position that agrees with all that this seat can see."""
        return position_of(planner.rules, message["decision"], state, rng=rng)

    now = time.process_time()
    position = guess()
    if position.decision not in (TURN, KEEPING, KING_DUE) or not position.phase:
        ends = now + min(SETUP_S, left_ms / 1000)
        return [legal[play_out(guess, state["seat"], rng, ends)]]
    ends = now + min(MAX_S, left_ms / 1000)
    return actions_of(position, planner.plan(position, ends)) or legal[:1]


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng = random.Random()
    planner = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            planner = Planner(
                resolve(message["ruleset"], message["seats"], message["switches"])
            )
            rng.seed(message["seed"])
            print('{"type":"ready","name":"master"}', flush=True)
        elif message["type"] == "decide":
            actions = choose(message, planner, rng)
            print(json.dumps({"actions": actions}), flush=True)
        elif message["type"] == "end":
            break


if __name__ == "__main__":
    main()
