"""How the strong house bots value positions, and which answers they make of turns.

`searcher`, `planner`, `master` and the analysis of games use the same evaluation, which
was set by hand. `champion` has learned weights.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

from engine.evaluation import Evaluator, Weights
from engine.kernel import Position
from engine.moves import BUY, CARD_NAMES, END, KEEP, KEEPING, KING_DUE, TURN
from engine.notation import text
from engine.playouts import average_leads
from engine.rulesets import PHASES, Rules, resolve
from engine.search import position_of
from engine.turns import Turn, TurnSearch

# The value of a castle point, by phase: it will score again at the end of each later
# phase, unless somebody spoils it. The first number is for the set-up.
_FUTURE = (2.2, 2.2, 1.6, 1.0)
_RIVALRY = {2: 0.8, 3: 0.5, 4: 0.4}  # the weight of the best rival's points, by seats
# With two seats, the learned evaluation is the lead over the only rival.
_LEARNED_RIVALRY = _RIVALRY | {2: 1.0}
_CARDS = dict.fromkeys(CARD_NAMES, 2.4) | {"ap7": 3.0, "jump": 1.8, "move_block": 1.4}
_MAX_GAMES = 16  # random games from each position, in one call


Taste = Mapping[str, float]
"""Factors of weights, by the name of a feature: 1 if it is missing.

A player with another taste plays other turns. "castles" is a factor of what castles
will be worth later, and "rivals" one of all weights of the rivals.
"""


def evaluator_for(
    rules: Rules, phase: int, round_number: int, taste: Taste | None = None
) -> Evaluator:
    """Return the evaluator for a round; it knows how many rounds are left to play."""
    factors = taste or {}
    left = len(rules.stacks[phase - 1]) - round_number
    own = []
    for row, future in enumerate(_FUTURE):
        # In the last phase, cards lose their worth to its end.
        cards = min(1.0, 0.35 * left) if row == PHASES else 1.0
        weights = {
            "score": 1.0,
            "king": 1.0,
            "master": future,
            "knights": future - 0.8 + 0.1 * left,
            "levels": 0.5 * (future - 0.9) + 0.05 * left,
            "climbs": 0.25 * left,
            **{f"hand_{name}": cards * worth for name, worth in _CARDS.items()},
        }
        own.append({name: n * factors.get(name, 1.0) for name, n in weights.items()})
        own[-1]["castles"] = 1.0 + (future - 1.0) * factors.get("castles", 1.0)
    rivalry = _RIVALRY[rules.seats] * factors.get("rivals", 1.0)
    rivals = [
        {name: rivalry * n for name, n in row.items() if not name.startswith("hand")}
        for row in own
    ]
    return Evaluator(own, rivals)


class RoundSearches:
    """The turn search of a game, with another evaluator for each round.

    `promise` are the weights of a `TurnSearch` for the middle of a turn. There is one
    search, which has the evaluator of the round that was asked for last. Players with
    other tastes may share it, because its table takes a megabyte.
    """

    def __init__(
        self,
        rules: Rules,
        promise: Weights,
        taste: Taste | None = None,
        shared: TurnSearch | None = None,
    ) -> None:
        self._rules = rules
        self._taste = taste
        self._evaluators: dict[tuple[int, int], Evaluator] = {}
        self._promise = Evaluator(promise, [{}] * len(promise))
        self.search = shared or TurnSearch(self._evaluator(1, 1), promise)

    def of_round(self, phase: int, round_number: int) -> TurnSearch:
        """Return the search for a round of phases 1 to 3."""
        self.search.evaluator = self._evaluator(phase, round_number)
        self.search.promise = self._promise
        return self.search

    def _evaluator(self, phase: int, round_number: int) -> Evaluator:
        key = (phase, round_number)
        if key not in self._evaluators:
            self._evaluators[key] = evaluator_for(self._rules, *key, self._taste)
        return self._evaluators[key]

    def of(self, position: Position) -> TurnSearch:
        """Return the search for a position, after the set-up, in which a seat decides.

        The king is put for the next phase, so that its search is the next phase's.
        """
        if position.decision == KING_DUE and position.phase < PHASES:
            return self.of_round(position.phase + 1, 1)
        return self.of_round(position.phase, position.round)


Learned = Sequence[Mapping[str, Sequence[float]]]
"""Learned weights of features by name, for phases 1 to 3: two numbers, a and b.

To a seat that has `n` turns left in the phase, the feature is worth a + b * n points.
"""


class LearnedSearches:
    """The turn search of a game with learned weights, with an evaluator for each turn.

    The value of a position is that at the end of the turn that is searched. `promise`
    are the weights of a `TurnSearch` for the middle of a turn. There is one search,
    which has the evaluator of the turn that was asked for last.
    """

    def __init__(self, rules: Rules, learned: Learned, promise: Weights) -> None:
        self._rules = rules
        self._learned = learned
        self._evaluators: dict[tuple[int, int, int], Evaluator] = {}
        self._search = TurnSearch(self._evaluator(1, 1, 0), promise)

    def of(self, position: Position) -> TurnSearch:
        """Return the search for a position, after the set-up, in which a seat decides.

        The king is put for the next phase, so that its search is the next phase's.
        """
        key = (position.phase, position.round, position.turn)
        if position.decision == KING_DUE and position.phase < PHASES:
            key = (position.phase + 1, 1, 0)
        if key not in self._evaluators:
            self._evaluators[key] = self._evaluator(*key)
        self._search.evaluator = self._evaluators[key]
        return self._search

    def _evaluator(self, phase: int, round_number: int, turn: int) -> Evaluator:
        """Return the evaluator for the end of a turn, the index of it in its round."""
        seats = self._rules.seats
        left = len(self._rules.stacks[phase - 1]) - round_number
        waiting = (seats - 1 - turn) / (seats - 1)  # share of rivals that play after it
        learned = self._learned[phase - 1]
        own = {name: a + b * left for name, (a, b) in learned.items()}
        left_to_rivals, rivalry = left + waiting, _LEARNED_RIVALRY[seats]
        rivals = {
            name: rivalry * (a + b * left_to_rivals) for name, (a, b) in learned.items()
        }
        return Evaluator([own] * (PHASES + 1), [rivals] * (PHASES + 1))


def in_order(moves: Sequence[int]) -> list[int]:
    """Return the moves of a turn with only its first purchase, at the end.

    Only the first move may be a `keep`: the others follow a purchase.
    """
    plain = [
        move
        for number, move in enumerate(moves)
        if move >> 16 != BUY and (move >> 16 != KEEP or number == 0)
    ]
    return [*plain, BUY << 16] if BUY << 16 in moves else plain


def different(turns: Iterable[Turn], limit: int) -> list[Turn]:
    """Return the first turns of which no two share most of their moves."""
    chosen: list[Turn] = []
    for turn in turns:
        if turn.moves and not any(_share_most(turn, other) for other in chosen):
            chosen.append(turn)
        if len(chosen) == limit:
            break
    return chosen


def _share_most(one: Turn, other: Turn) -> bool:
    common = (Counter(one.moves) & Counter(other.moves)).total()
    return 2 * common > min(len(one.moves), len(other.moves))


def actions_of(position: Position, moves: Sequence[int]) -> list[str]:
    """Return an answer: the actions up to the first purchase, or the whole turn.

    `moves` are those of a turn without `end`; the position changes. Nobody knows what a
    purchase will draw, so the answer ends there. Where to put the king is an answer of
    its own, although a search goes on with the turn after it.
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


def best_by_random_games(
    guess: Callable[[], Position], seat: int, rng: Random, ends: float
) -> int:
    """Return the number of the legal move with the best average in random games.

    It decides about start blocks, first knights, and other rare questions. `guess`
    returns the position with the hidden cards dealt again. Each time, twice as many
    games are played as before, until `ends`, a time of `time.process_time`.
    """
    games = 1
    totals = [0.0] * len(guess().legal())
    while games <= _MAX_GAMES:
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


Guess = Callable[[], Position]
"""Returns a position that agrees with all that a seat can see."""


def answer(
    message: Mapping[str, Any],
    rules: Rules,
    rng: Random,
    plan: Callable[[Position, Guess, float], Sequence[int]],
    seconds: tuple[float, float],
) -> list[str]:
    """Return the answer to a question.

    `plan` returns the moves of a turn. It takes a guess, a function that returns other
    guesses, and the time at which it has to end. `seconds` are the CPU time for a turn,
    and the one for rare questions, about which random games decide.
    """
    legal: list[str] = message["legal"]
    if len(legal) == 1:
        return legal
    now = time.process_time()
    guess = partial(position_of, rules, message["decision"], message["state"], rng=rng)
    position = guess()
    if position.decision not in (TURN, KEEPING, KING_DUE) or not position.phase:
        ends = now + seconds[1]
        return [legal[best_by_random_games(guess, message["state"]["seat"], rng, ends)]]
    return actions_of(position, plan(position, guess, now + seconds[0])) or legal[:1]


Mind = TypeVar("Mind")


def speak(
    name: str,
    prepare: Callable[[Rules], Mind],
    choose: Callable[[Mapping[str, Any], Mind, Random], list[str]],
) -> None:
    """Speak the protocol: hello, decide … decide, end.

    `choose` answers a question with what `prepare` has made of the rules of the game.
    """
    rng = Random()  # noqa: S311 - a bot, whose seed the referee gives
    for line in sys.stdin:
        message = json.loads(line)
        reply: dict[str, object] = {"type": "ready", "name": name}
        match message["type"]:
            case "hello":
                mind = prepare(
                    resolve(message["ruleset"], message["seats"], message["switches"])
                )
                rng.seed(message["seed"])
            case "decide":
                reply = {"actions": choose(message, mind, rng)}
            case "end":
                break
            case _:
                continue
        print(json.dumps(reply), flush=True)  # noqa: T201 - a bot answers by printing
