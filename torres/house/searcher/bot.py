"""House bot `searcher`: it searches whole turns, and the next seat's answer to them.

It imports the package `engine`, which plays the rules and values positions in compiled
code; docs/search.md describes it. A decision has four steps:

1. Guess the cards that the seat cannot see (`position_of`).
2. Search whole turns with a beam: play every action, keep the best few positions, play
   every action in each of them, and so on. Wider and wider beams follow each other.
3. For the best turns that were found, search the best turn of the next seat, for some
   guesses of its cards. The turn after which this seat stands best is chosen.
4. Answer the turn up to its first purchase, because nobody knows what that will draw.

With enough time the search does the same work again for the same seed, so that a game
can be repeated. The time is CPU time, because that is what the ladder charges.
"""

import json
import random
import sys
import time

from engine import resolve
from engine.evaluation import key_of
from engine.moves import END, OVER, TURN
from engine.search import determinize
from engine.strategy import answer, evaluator_for

MOVE_SHARE = 0.25  # of the time that is left for this turn
BANK_SHARE = 0.002  # of the bank, for ladders on which a turn has no time of its own
MAX_S = 0.15  # of CPU time for one answer; more would hardly change it
# With less time left than the slowest answer took this many times, it answers at once.
# Without a compiler `engine` is so slow that the least search may take all the time.
SPARE = 2
WIDTHS = (1, 4, 16)  # of the beams, one after the other
GROWTH = 4  # a beam takes this many times as long as the one before
REPLIES = 8  # turns for which the answer of the next seat is searched
REPLY_WIDTH = 3
WORLDS = 2  # guesses of the hidden cards for each of them


def beam_search(evaluator, root, width, ends):
    """Return the turns that a beam finds, best first: (value, key, moves, position).

    Each of them can be ended, or leads to the decision of another seat. It is the seat
    that decides in `root` whose turn is searched. The list is empty if time ran out.
    """
    seat = root.seat
    found = {}
    beam = [([], root)]
    if root.decision == TURN and root.stock.current >= 0:
        found[key_of(root)] = (evaluator.value(root, seat), key_of(root), [], root)
    while beam:
        before = [position for _, position in beam]
        level = []
        for value, key, index, move in evaluator.expand(before, seat, width):
            position = before[index].copy()
            position.perform(move)
            moves = [*beam[index][0], move]
            if position.seat != seat or (
                position.decision == TURN and position.stock.current >= 0
            ):
                found[key] = (value, key, moves, position)
            if position.seat == seat and position.decision != OVER:
                level.append((moves, position))
        if time.process_time() > ends:
            break
        beam = level
    return sorted(found.values(), key=lambda turn: (-turn[0], turn[1]))


def after_reply(evaluator, turn, seat, rng, ends):
    """Return the value of a turn for a seat after the best answer of the next seat."""
    value, _, _, position = turn
    if position.decision != TURN or position.seat != seat:
        return value
    total = 0.0
    for _ in range(WORLDS):
        world = determinize(position, seat, rng)
        world.perform(END << 16)  # the first way to leave the blocks that are left over
        if world.decision == OVER:
            scores = list(world.track.scores)[: world.seats]
            return scores.pop(seat) - max(scores)
        if world.decision != TURN:
            return value  # the phase is over, so that this turn is not answered
        replies = beam_search(evaluator, world, REPLY_WIDTH, ends)
        total += evaluator.value(replies[0][3] if replies else world, seat)
    return total / WORLDS


def plan(position, evaluator, rng, ends):
    """Return the moves of the best turn that was found."""
    turns = []
    for width in WIDTHS:
        began = time.process_time()
        turns = beam_search(evaluator, position, width, ends) or turns
        now = time.process_time()
        if GROWTH * (now - began) > ends - now:
            break
    best = None
    for turn in turns[:REPLIES]:
        if best and time.process_time() > ends:
            break
        value = after_reply(evaluator, turn, position.seat, rng, ends)
        if best is None or value > best[0]:
            best = (value, turn[2])
    return best[1] if best else []


def choose(message, rules, rng, slowest=0.0):
    """Return the actions of this answer; `slowest` is the longest one so far, in s."""
    legal = message["legal"]
    if len(legal) == 1:
        return legal
    clock = message["clock"]
    if (clock["move_ms"] + clock["bank_ms"]) / 1000 < SPARE * slowest:
        return legal[:1]
    left_s = (MOVE_SHARE * clock["move_ms"] + BANK_SHARE * clock["bank_ms"]) / 1000
    state = message["state"]

    def plan_turn(position, _guess, ends):
        evaluator = evaluator_for(rules, state["phase"], state["round"])
        return plan(position, evaluator, rng, ends)

    return answer(message, rules, rng, plan_turn, (min(MAX_S, left_s),) * 2)


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng = random.Random()
    rules = None
    slowest = 0.0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            rules = resolve(message["ruleset"], message["seats"], message["switches"])
            rng.seed(message["seed"])
            print('{"type":"ready","name":"searcher"}', flush=True)
        elif message["type"] == "decide":
            began = time.process_time()
            actions = choose(message, rules, rng, slowest)
            slowest = max(slowest, time.process_time() - began)
            print(json.dumps({"actions": actions}), flush=True)
        elif message["type"] == "end":
            break


if __name__ == "__main__":
    main()
