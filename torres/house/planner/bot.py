"""House bot `planner`: Monte Carlo tree search over whole turns, in guessed worlds.

It imports the package `engine`; docs/search.md describes it. A decision has four steps:

1. Find the best whole turns with a wide beam (`TurnSearch`). These are the candidates.
2. Deal the hidden cards several times. Each deal is a world.
3. Search a tree in each world, whose moves are whole turns: go down to a position that
   was not searched yet, find the best turns there, let all seats play their best turns
   up to the horizon, value that, and report the value to all turns on the way.
4. Answer the candidate that the search visited most often.

Purchases come last in an answer: a card cannot be played in the turn in which it was
bought, and what a purchase draws is not known. All time is CPU time, because that is
what the ladder charges.
"""

import math
import time

from engine.evaluation import key_of
from engine.moves import BUY, END, KEEP, KING_DUE, OVER, TURN
from engine.strategy import RoundSearches, answer, speak

MOVE_SHARE = 0.25  # of the time that is left for this turn
BANK_SHARE = 0.002  # of the bank, for ladders on which a turn has no time of its own
MAX_S = 0.06  # of CPU time for one answer
BEAM_SHARE = 0.7  # of this time, at most, for the candidates
WIDTH = 128  # of the beam for the candidates
CANDIDATES = 8
NODE_WIDTH = 16  # of the beam for the turns of a position in the tree
NODE_TURNS = 3  # that are followed from there
ROLLOUT_WIDTH = 8
WORLDS = 3  # guesses of the hidden cards
EXPLORATION = 1.5  # in points: more of it visits more turns
DOUBT = (
    4.0  # in points: a turn that is worse by this is visited 2.7 times less at first
)
PROMISE = [{"ap": 1.0}] * 4  # points that an action point is going to bring


class Judge:
    """The values of positions, and the best turns in them, for all rounds of a game."""

    def __init__(self, rules):
        self.rules = rules
        self.searches = RoundSearches(rules, PROMISE)

    def turns(self, position, width, limit, ends=math.inf):
        """Return the best turns of the seat that decides."""
        return self.searches.of(position).best(position, width, limit, ends)

    def values(self, position):
        """Return the value of a position for each seat."""
        seats = range(position.seats)
        if position.decision == OVER:
            scores = list(position.track.scores)[: position.seats]
            return [
                scores[seat] - max(scores[:seat] + scores[seat + 1 :]) for seat in seats
            ]
        phase, round_number = position.phase, position.round
        if position.decision != TURN:  # between two phases: the castles have scored
            position = position.copy()
            phase, round_number = min(phase + 1, 3), 1
            position.phase = phase
        evaluator = self.searches.of_round(phase, round_number).evaluator
        return [evaluator.value(position, seat) for seat in seats]


class Node:
    """A position in which a seat begins a turn, and what is known about its turns."""

    def __init__(self, position, plies):
        self.position = position
        self.plies = plies  # turns up to the horizon
        self.visits = 0
        self.children = []
        self.counts = []
        self.sums = []
        self.priors = []

    def grow(self, values, children):
        """Add the turns of this node; a turn of a higher value is visited earlier."""
        best = max(values)
        shares = [math.exp((value - best) / DOUBT) for value in values]
        self.priors = [share / max(shares) for share in shares]
        self.children = children
        self.counts = [0] * len(children)
        self.sums = [0.0] * len(children)

    def select(self):
        """Return the number of the turn to visit next (PUCT)."""
        seen = [s / n for s, n in zip(self.sums, self.counts, strict=True) if n]
        fresh = max(seen, default=0.0)  # a turn that was not visited may be the best
        root = EXPLORATION * math.sqrt(self.visits + 1)
        best = None
        for number, count in enumerate(self.counts):
            mean = self.sums[number] / count if count else fresh
            score = mean + root * self.priors[number] / (1 + count)
            if best is None or score > best[0]:
                best = (score, number)
        return best[1]

    def report(self, number, value):
        """Note the value of one more visit of a turn."""
        self.visits += 1
        self.counts[number] += 1
        self.sums[number] += value


def ended(position, seat):
    """Return the position after the end of a seat's turn."""
    after = position.copy()
    if after.decision == TURN and after.seat == seat and after.stock.current >= 0:
        after.perform(END << 16)  # the first way to leave the blocks that are left over
    return after


def simulate(judge, node):
    """Visit a node once, and return the value for each seat."""
    position = node.position
    if node.plies == 0 or position.decision != TURN:
        return judge.values(position)
    seat = position.seat
    if not node.children:
        turns = judge.turns(position, NODE_WIDTH, NODE_TURNS)
        after = [Node(ended(t.position, seat), node.plies - 1) for t in turns]
        node.grow([turn.value for turn in turns], after)
        node.visits = 1
        return roll_out(judge, after[0])
    number = node.select()
    values = simulate(judge, node.children[number])
    node.report(number, values[seat])
    return values


def roll_out(judge, node):
    """Let all seats play their best turns; return the values at the horizon."""
    position = node.position
    for _ in range(node.plies):
        if position.decision != TURN:
            break
        turn = judge.turns(position, ROLLOUT_WIDTH, 1)[0]
        position = ended(turn.position, position.seat)
    return judge.values(position)


def candidates_of(position, turns):
    """Return at most `CANDIDATES` different answers: (value, moves, purchases).

    The purchases of a turn come after its other moves, which does not change the turn.
    """
    found = {}
    for turn in turns:
        plain = tuple(
            move
            for number, move in enumerate(turn.moves)
            if move >> 16 != BUY and (move >> 16 != KEEP or number == 0)
        )
        buys = sum(move >> 16 == BUY for move in turn.moves)
        after = position.copy()
        for move in plain:
            after.perform(move)
        found.setdefault((key_of(after), buys), (turn.value, plain, buys))
    return list(found.values())[:CANDIDATES]


def world_after(judge, guess, candidate):
    """Return the position after a candidate in a world, with what it buys there.

    A move that is impossible in this world ends the turn.
    """
    _, moves, buys = candidate
    after = guess.copy()
    seat = after.seat
    for move in moves:
        if not after.attempt(move):
            break
    if buys and after.attempt(BUY << 16):
        turns = judge.turns(after, 4, 1)
        after = turns[0].position if turns else after
    return ended(after, seat)


def plan(guess, judge, ends):
    """Return the moves of the best turn: all but `end`, up to the first purchase."""
    began = time.process_time()
    position = guess()
    turns = judge.turns(
        position, WIDTH, 4 * CANDIDATES, began + BEAM_SHARE * (ends - began)
    )
    if not turns:
        return []
    if position.decision == KING_DUE:
        return list(turns[0].moves[:1])
    candidates = candidates_of(position, turns)
    root = Node(position, position.seats)
    root.grow([value for value, _, _ in candidates], [{} for _ in candidates])
    guesses = [guess() for _ in range(WORLDS)]
    longest = 0.0  # time of a visit: the next one may take as long
    now = time.process_time()
    while len(candidates) > 1 and now + 2 * longest < ends:
        number = root.select()
        world = root.counts[number] % WORLDS
        trees = root.children[number]
        if world not in trees:
            after = world_after(judge, guesses[world], candidates[number])
            trees[world] = Node(after, root.plies - 1)
        root.report(number, simulate(judge, trees[world])[position.seat])
        longest = max(longest, time.process_time() - now)
        now = time.process_time()
    counts = root.counts
    best = max(range(len(counts)), key=lambda i: (counts[i], root.sums[i], -i))
    _, moves, buys = candidates[best]
    return [*moves, *[BUY << 16][:buys]]


def choose(message, judge, rng):
    """Return the actions of this answer."""
    clock = message["clock"]
    left_s = (MOVE_SHARE * clock["move_ms"] + BANK_SHARE * clock["bank_ms"]) / 1000
    seconds = (min(MAX_S, left_s),) * 2

    def plan_turn(position, guess, ends):
        return plan(guess, judge, ends)

    return answer(message, judge.rules, rng, plan_turn, seconds)


if __name__ == "__main__":
    speak("planner", Judge, choose)
