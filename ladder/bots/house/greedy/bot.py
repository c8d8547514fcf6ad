"""House bot `greedy`: the action that gains most points for each action point, now.

It looks one action ahead: it makes the move on a copy of the board and counts what
the castles would score, its own minus a part of the best opponent's. It needs no
engine, only the state that every bot is sent.
"""

import json
import random
import sys

# Castles are scored again in each phase that is still to come, if nobody spoils them.
FUTURE = {1: 2.2, 2: 1.6, 3: 1.0}
COST = {"add": 2, "move": 1, "block": 1, "buy": 1, "score": 1}
MOVES = ("up2", "diagonal", "jump", "regroup", "door_up")


def cell(name):
    """Return the (row, column) of a space such as "c4"."""
    return int(name[1]) - 1, ord(name[0]) - ord("a")


def castles(heights):
    """Yield each castle as a set of (row, column)."""
    left = {(r, c) for r in range(8) for c in range(8) if heights[r][c]}
    while left:
        castle, edge = set(), [left.pop()]
        while edge:
            r, c = edge.pop()
            castle.add((r, c))
            near = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & left
            left -= near
            edge += near
        yield castle


class Board:
    """What counts for points: heights, knights, the king, and the phase."""

    def __init__(self, state):
        self.heights = [row[:] for row in state["heights"]]
        self.knights = [{cell(k) for k in seat} for seat in state["knights"]]
        self.king = cell(state["king"]) if state["king"] else None
        self.phase = max(state["phase"], 1)
        self.cards = len(state["hand"])
        self.bonus = 0.0

    def points(self, seat):
        """Return the castle points and the king's bonus if the phase ended now."""
        total = 0.0
        for castle in castles(self.heights):
            levels = [self.heights[r][c] for r, c in castle & self.knights[seat]]
            if levels:
                total += len(castle) * max(levels)
                if self.king in castle and self.phase in levels:
                    total += 5 * self.phase
        return total

    def value(self, seat):
        """Return how good this is for the seat."""
        rivals = [self.points(s) for s in range(len(self.knights)) if s != seat]
        castles_value = FUTURE[self.phase] * (self.points(seat) - 0.4 * max(rivals))
        spread = (FUTURE[self.phase] - 0.8) * len(self.knights[seat])
        climb = 0.3 * sum(self.heights[r][c] for r, c in self.knights[seat])
        return castles_value + spread + climb + self.bonus

    def put(self, space, blocks=1):
        """Put blocks on a space (or take one away with -1)."""
        row, column = cell(space)
        self.heights[row][column] += blocks

    def walk(self, seat, source, target):
        """Move a knight."""
        self.knights[seat].remove(cell(source))
        self.knights[seat].add(cell(target))

    def act(self, seat, action):
        """Do what an action does, as far as points can tell."""
        match action.split():
            case ["enter" | "add", space]:
                self.knights[seat].add(cell(space))
            case ["king", space]:
                self.king = cell(space) if space != "stay" else self.king
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
            case ["play", "ap6" | "ap7"]:
                self.bonus = 2.5
            case ["buy"]:
                self.bonus = 1.1 if self.cards < 2 and self.phase < 3 else 0.2
            case ["score"]:
                self.bonus = 1.0


def choose(message, seat, rng):
    """Return the best of the legal actions; equals are drawn by lot."""
    state, legal = message["state"], message["legal"]
    now = Board(state).value(seat)
    best, choices = None, []
    for action in legal:
        board = Board(state)
        board.act(seat, action)
        gain = (board.value(seat) - now) / COST.get(action.split()[0], 1)
        if action.startswith("play"):
            gain -= 1.5  # a card is worth keeping for a better moment
        elif action.startswith(("end", "stack", "keep", "first", "stock", "found")):
            gain = 0.0
        if best is None or gain > best:
            best, choices = gain, []
        if gain == best:
            choices.append(action)
    return rng.choice(choices)


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng, seat = random.Random(0), 0
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
