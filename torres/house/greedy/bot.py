"""House bot `greedy`: it plays the action that gains most points for its action points.

It looks one action ahead. For each legal action it makes a copy of the board, plays the
action there, and counts what the castles would score: its own points minus a part of
the best opponent's points. It needs no rules engine: the referee sends the state of the
game and the legal actions with each question.
"""

import json
import random
import sys

# What a castle point of this phase is worth. The castle will score again at the end of
# each later phase, unless somebody spoils it.
FUTURE = {1: 2.2, 2: 1.6, 3: 1.0}
# The cost of actions in action points, by which their gain is divided.
COST = {"add": 2, "move": 1, "block": 1, "buy": 1, "score": 1}
# The weight of the best opponent's points against our own.
RIVALRY = 0.4
# A card is worth keeping for a better moment: playing it must gain more than this.
CARD_VALUE = 1.5
# Cards that move a knight: "play CARD SOURCE TARGET".
MOVES = ("up2", "diagonal", "jump", "regroup", "door_up")
# Actions that gain nothing by themselves. They are played when nothing better is left.
NEUTRAL = ("end", "stack", "keep", "first", "stock", "found")


def cell(name):
    """Return the (row, column), counted from 0, of a space such as "c4"."""
    return int(name[1]) - 1, ord(name[0]) - ord("a")


def castles(heights):
    """Yield each castle, a connected group of built spaces, as a set of (row, column).

    This is a flood fill: start at any built space and add neighbours until there are no
    more. Then start again with a space that belongs to no castle yet.
    """
    left = {(r, c) for r in range(8) for c in range(8) if heights[r][c]}
    while left:
        castle = set()
        edge = [left.pop()]
        while edge:
            r, c = edge.pop()
            castle.add((r, c))
            near = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & left
            left -= near
            edge += near
        yield castle


class Board:
    """A copy of the part of the state that decides about points."""

    def __init__(self, state):
        self.heights = [row[:] for row in state["heights"]]
        self.knights = [{cell(k) for k in seat} for seat in state["knights"]]
        self.king = cell(state["king"]) if state["king"] else None
        self.phase = max(state["phase"], 1)  # 0 during the set-up
        self.cards = len(state["hand"])
        self.bonus = 0.0  # for actions that change nothing on the board

    def points(self, seat):
        """Return the points of a seat if the phase ended now.

        A castle scores its size times the level of the seat's highest knight in it. A
        knight in the king's castle, on the level of the phase, gets the king's bonus.
        """
        total = 0.0
        for castle in castles(self.heights):
            levels = [self.heights[r][c] for r, c in castle & self.knights[seat]]
            if levels:
                total += len(castle) * max(levels)
                if self.king in castle and self.phase in levels:
                    total += 5 * self.phase
        return total

    def value(self, seat):
        """Return how good the board is for a seat, in points of the whole game."""
        rivals = [self.points(s) for s in range(len(self.knights)) if s != seat]
        lead = self.points(seat) - RIVALRY * max(rivals)
        castles_value = FUTURE[self.phase] * lead
        # More knights and higher knights will score in later phases.
        spread = (FUTURE[self.phase] - 0.8) * len(self.knights[seat])
        climb = 0.3 * sum(self.heights[r][c] for r, c in self.knights[seat])
        return castles_value + spread + climb + self.bonus

    def put(self, space, blocks=1):
        """Put blocks on a space; -1 takes one away."""
        row, column = cell(space)
        self.heights[row][column] += blocks

    def walk(self, seat, source, target):
        """Move a knight from one space to another."""
        self.knights[seat].remove(cell(source))
        self.knights[seat].add(cell(target))

    def act(self, seat, action):
        """Play an action, as far as it matters for points.

        Actions that are not listed here change nothing: the bot values them at 0.
        """
        match action.split():
            case ["enter" | "add", space]:
                self.knights[seat].add(cell(space))
            case ["king", space]:
                # The king moves between two phases: value the board of the next one.
                if space != "stay":
                    self.king = cell(space)
                self.phase = min(self.phase + 1, 3)
            case ["move", source, target]:
                self.walk(seat, source, target)
            case ["block", space] | ["play", "extra_block", space]:
                self.put(space)
            case ["play", "under_knight", space, _]:
                self.put(space)
            case ["play", "move_block", source, target]:
                self.put(source, -1)
                self.put(target)
            case ["play", card, source, target] if card in MOVES:
                self.walk(seat, source, target)
            case ["play", "ap6" | "ap7"]:  # more action points for this turn
                self.bonus = 2.5
            case ["buy"]:  # a card helps only if there is time left to play it
                self.bonus = 1.1 if self.cards < 2 and self.phase < 3 else 0.2
            case ["score"]:  # one point on the scoring track
                self.bonus = 1.0


def choose(message, seat, rng):
    """Return one of the best legal actions, at random if there are several."""
    state = message["state"]
    now = Board(state).value(seat)
    best = None
    choices = []
    for action in message["legal"]:
        board = Board(state)
        board.act(seat, action)
        gain = (board.value(seat) - now) / COST.get(action.split()[0], 1)
        if action.startswith("play"):
            gain -= CARD_VALUE
        elif action.startswith(NEUTRAL):
            gain = 0.0
        if best is None or gain > best:
            best = gain
            choices = []
        if gain == best:
            choices.append(action)
    return rng.choice(choices)


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng = random.Random()
    seat = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            seat = message["seat"]
            rng.seed(message["seed"])
            print('{"type":"ready","name":"greedy"}', flush=True)
        elif message["type"] == "decide":
            action = choose(message, seat, rng)
            print(json.dumps({"actions": [action]}), flush=True)
        elif message["type"] == "end":
            break


main()
