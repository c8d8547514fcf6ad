"""A bot for Torres that searches: it tries whole turns on copies of the position.

It imports the package `engine`, which every Python bot can use, on the ladder and at
home. The search has three steps: guess the hidden cards (`position_of`), play turns on
copies of that position (`search`), and say how good the board is then (`evaluate`).

Change one thing, and measure it: torres play . house:greedy --games 20 --rotate
"""

import json
import random
import sys
import time

from engine import resolve
from engine.moves import BUY, END, OVER, TURN
from engine.notation import text
from engine.search import position_of

SHARE = 0.4  # of the thinking time that is left for this turn
MAX_WIDTH = 512  # of the beam
RIVALRY = 0.45  # the weight of the best rival's points against our own
FUTURE = {0: 2.2, 1: 2.2, 2: 1.6, 3: 1.0}  # by phase: early castles score again
CARD = {0: 2.5, 1: 2.5, 2: 2.0, 3: 0.3}  # the value of a card in the hand


def points(position, seat):
    """Return what a seat would score if the phase ended now."""
    track, board, phase = position.track, position.board, max(position.phase, 1)
    bonus = track.king(board, seat, phase) if board.king >= 0 else 0
    return track.castles(board, seat) + track.card(board, seat, phase) + bonus


def evaluate(position, seat):
    """Return how good a position is for a seat, in points of the whole game."""
    future, board = FUTURE[position.phase], position.board
    rivals = [points(position, s) for s in range(position.seats) if s != seat]
    lead = points(position, seat) - RIVALRY * max(rivals)
    # Each knight on the board, and each level under it, will score in later phases.
    mine = board.knights[seat]
    heights = sum(n * board.area(mine & board.exactly(n)) for n in (1, 2, 3, 4, 5))
    growth = (future - 0.8) * board.area(mine) + 0.5 * (future - 0.9) * heights
    cards = CARD[position.phase] * sum(position.cards.hand[10 * seat : 10 * seat + 10])
    return position.track.scores[seat] + future * lead + growth + cards


def search(position, seat, width, ends):
    """Return the value of the best turn that was found, and its moves.

    A beam search: play every action, keep the best few positions (`width`), play every
    action in each of them, and so on until no action points are left.
    """
    best = (evaluate(position, seat), [])
    beam = [(*best, position)]
    while beam and time.process_time() < ends:
        after = {}
        for value_before, moves, before in beam:
            for move in before.legal():
                kind = move >> 16
                if kind == END:
                    continue  # a turn can end after any action: `best` counts that
                if kind == BUY:
                    # The card is unknown, so that no action may follow in this answer.
                    value = value_before + CARD[before.phase]
                else:
                    child = before.copy()
                    child.perform(move)
                    value = evaluate(child, seat)
                    # The same actions in another order lead to the same value.
                    after[value, child.ap] = (value, [*moves, move], child)
                if value > best[0]:
                    best = (value, [*moves, move])
        beam = sorted(after.values(), key=lambda node: -node[0])[:width]
    return best


def plan_turn(position, seat, ends):
    """Return the actions of the best turn that wider and wider beams find in time."""
    value, moves = search(position, seat, 1, ends)
    width = 2
    while width <= MAX_WIDTH and time.process_time() < ends:
        value, moves = max((value, moves), search(position, seat, width, ends))
        width *= 2
    actions = []
    for move in moves:
        actions.append(text(position, move))
        position.perform(move)
    if position.decision == TURN and not (moves and moves[-1] >> 16 == BUY):
        # There may be several endings, which keep different stacks of blocks.
        endings = [move for move in position.legal() if move >> 16 == END]
        actions += [text(position, move) for move in endings[:1]]
    return actions


def play_out(message, guess, seat, rng, ends):
    """Return the action with the best average lead at the end of random games.

    This decides about the first knights, the king, and which card to keep. The hidden
    cards are dealt again for each game.
    """
    legal = message["legal"]
    leads = dict.fromkeys(legal, 0.0)
    while time.process_time() < ends:
        for number, action in enumerate(legal):
            position = guess()
            position.perform(position.legal()[number])
            if position.decision != OVER:
                position.playout(rng.getrandbits(60))
            scores = position.track.scores[: position.seats]
            mine = scores.pop(seat)
            leads[action] += mine - max(scores)
    return [max(legal, key=lambda action: leads[action])]


def choose(message, rules, seat, rng):
    """Return the actions of this answer.

    The time is measured in CPU time, because that is what the ladder charges. While
    other programs run on a busy machine, the wall clock goes on, and this clock stops.
    """
    legal = message["legal"]
    ends = time.process_time() + SHARE * message["clock"]["move_ms"] / 1000

    def guess():
        """Return a position that agrees with all that this seat can see."""
        return position_of(rules, message["decision"], message["state"], rng=rng)

    if len(legal) == 1:
        return legal
    if message["decision"] == "turn":
        return plan_turn(guess(), seat, ends) or legal[-1:]
    return play_out(message, guess, seat, rng, ends)


def main():
    rng = random.Random()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            rules = resolve(message["ruleset"], message["seats"], message["switches"])
            seat = message["seat"]
            rng.seed(message["seed"])  # so that a game can be repeated
            print('{"type":"ready"}', flush=True)
        elif message["type"] == "decide":
            actions = choose(message, rules, seat, rng)
            print(json.dumps({"actions": actions}), flush=True)


if __name__ == "__main__":
    main()
