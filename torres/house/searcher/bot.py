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
from engine.evaluation import Evaluator, key_of
from engine.moves import BUY, CARD_NAMES, END, KEEPING, KING_DUE, OVER, TURN
from engine.notation import text
from engine.playouts import average_leads
from engine.search import determinize, position_of

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
MAX_GAMES = 16  # random games from each position

# What a castle point is worth, by phase: it will score again at the end of each later
# phase, unless somebody spoils it. The first number is for the set-up.
FUTURE = (2.2, 2.2, 1.6, 1.0)
RIVALRY = {2: 0.8, 3: 0.5, 4: 0.4}  # the weight of the best rival's points, by seats
CARDS = dict.fromkeys(CARD_NAMES, 2.4) | {"ap7": 3.0, "jump": 1.8, "move_block": 1.4}


def evaluator_for(rules, phase, round_number):
    """Return the evaluator for a round; it knows how many rounds are left to play."""
    left = len(rules.stacks[phase - 1]) - round_number if phase else 4
    own = []
    for row, future in enumerate(FUTURE):
        later = future - 0.8 + 0.1 * left
        cards = min(1.0, 0.35 * left) if row == 3 else 1.0
        own.append(
            {
                "score": 1.0,
                "castles": future,
                "king": 1.0,
                "master": future,
                "knights": later,
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


def actions_of(position, moves):
    """Return the answer: the actions up to the first purchase, or the whole turn.

    Where to put the king is an answer of its own, although the search went on with the
    turn after it.
    """
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


def choose(message, rules, rng, slowest=0.0):
    """Return the actions of this answer; `slowest` is the longest one so far, in s."""
    legal = message["legal"]
    if len(legal) == 1:
        return legal
    clock = message["clock"]
    if (clock["move_ms"] + clock["bank_ms"]) / 1000 < SPARE * slowest:
        return legal[:1]
    left_ms = MOVE_SHARE * clock["move_ms"] + BANK_SHARE * clock["bank_ms"]
    ends = time.process_time() + min(MAX_S, left_ms / 1000)
    state = message["state"]

    def guess():
        """Return a position that agrees with all that this seat can see."""
        return position_of(rules, message["decision"], state, rng=rng)

    position = guess()
    if position.decision not in (TURN, KEEPING, KING_DUE) or not position.phase:
        return [legal[play_out(guess, state["seat"], rng, ends)]]
    evaluator = evaluator_for(rules, state["phase"], state["round"])
    return actions_of(position, plan(position, evaluator, rng, ends)) or legal[:1]


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
