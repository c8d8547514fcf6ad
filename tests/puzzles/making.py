"""Makes the puzzles of `ladder/extras/puzzles/collection.txt` from games by search.

Run `python -m tests.puzzles.making SEED COUNT >> collection.txt`. The same seed makes
the same puzzles.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

from engine.analysis import PROMISE, play_on
from engine.evaluation import Evaluator
from engine.kernel import Position, start
from engine.moves import OVER, TURN
from engine.notation import text
from engine.position_text import position_from, text_of
from engine.rulesets import PHASES, Rules, resolve
from engine.setup import derive
from engine.strategy import RoundSearches, different
from engine.turns import Turn, TurnSearch
from ladder.extras.puzzles.collection import Level, Puzzle, end_turn

RULESETS = ("yucata", "yucata-open-hand")
SEATS = (2, 3, 4)
POLICY_WIDTHS = (1, 2, 5)
"""The beams of the policy that plays the games."""
WIDTHS = {Level.EASY: 50, Level.MEDIUM: 250, Level.HARD: 1_000}
PROOF_WIDTH = 10_000
"""The beam of the longer searches, which must find nothing better."""
KEPT = 5_000  # turns of a search
MARGIN = 2
"""The points by which the best turn beats every turn with another idea.

A turn has another idea if it does not share most of its moves (`engine.strategy`).
"""

_ROWS = PHASES + 1
_POINTS = [{"score": 1.0, "castles": 1.0, "king": 1.0, "master": 1.0}] * _ROWS
# The second proof searches elsewhere: it keeps positions with high knights.
_HIGH = [{"ap": 5.0, "levels": 3.0, "climbs": 2.0}] * _ROWS


class PuzzleMaker:
    """Finds puzzles in positions; its searches value a turn by the lead it leaves."""

    def __init__(self) -> None:
        evaluator = Evaluator(_POINTS, _POINTS)
        self._search = TurnSearch(evaluator, PROMISE)
        self._other_search = TurnSearch(evaluator, _HIGH)

    def best_turn(self, position: Position) -> Turn | None:
        """Return the turn that is clearly the best; None if there is none.

        The longer searches must find nothing better. Of turns that gain the same it is
        the one with the fewest moves.
        """
        short = self._search.best(position, WIDTHS[Level.HARD], KEPT)
        if not _is_clear(short):
            return None
        found = self._search.best(position, PROOF_WIDTH, KEPT)
        best = found[0].value
        if best > short[0].value or not _is_clear(found):
            return None
        if self._other_search.best(position, PROOF_WIDTH, 1)[0].value > best:
            return None
        equal = [turn for turn in found if turn.value == best]
        return min(equal, key=lambda turn: len(turn.moves))

    def level_of(self, position: Position, turn: Turn) -> Level | None:
        """Return the first level whose search finds a turn as good as the best one.

        It is None if a beam of 1 is enough: the turn is the obvious one.
        """
        if self._best(position, 1) == turn.value:
            return None
        widths = WIDTHS.items()
        return next(
            level
            for level, width in widths
            if self._best(position, width) == turn.value
        )

    def _best(self, position: Position, width: int) -> float:
        return self._search.best(position, width, 1)[0].value


def _is_clear(found: list[Turn]) -> bool:
    """True if all turns with another idea gain less by MARGIN at least."""
    enough = found[0].value - MARGIN
    if found[-1].value > enough:
        return False  # a turn that was not kept may be as good
    return all(turn.value <= enough for turn in different(found, 2)[1:])


def positions(rng: Random) -> Iterator[tuple[Rules, Position]]:
    """Yield the last turn before each scoring of games without end."""
    while True:
        ruleset, seats = rng.choice(RULESETS), rng.choice(SEATS)
        rules = resolve(ruleset, seats)
        player, width = RoundSearches(rules, PROMISE), rng.choice(POLICY_WIDTHS)
        position = start(rules, derive(rules, f"puzzle {rng.getrandbits(60)}"))
        # Nothing in a puzzle is left to chance.
        certain = resolve(ruleset, seats, {"max_buys": 0})
        while position.decision != OVER:
            if _is_last_turn(position, rules):
                copy = position_from(text_of(position, certain)).position
                yield certain, copy
            position = play_on(position, player, width, rng)


def _is_last_turn(position: Position, rules: Rules) -> bool:
    if position.decision != TURN or position.bought:
        return False
    rounds = len(rules.stacks[position.phase - 1])
    last = position.order[rules.seats - 1]
    return bool(position.round == rounds and position.seat == last)


def puzzle_of_turn(
    rules: Rules, position: Position, turn: Turn, level: Level
) -> Puzzle:
    """Return the puzzle with a turn as its solution, which the engine values."""
    after = position.copy()
    actions = []
    for move in turn.moves:
        actions.append(text(after, move))
        after.perform(move)
    puzzle = Puzzle(level, 0, text_of(position, rules), tuple(actions))
    game = puzzle.game()
    for action in actions:
        game.play(action)
    end = end_turn(game)
    return replace(puzzle, gain=puzzle.gain_of(game), solution=(*actions, end))


def made(seed: str) -> Iterator[Puzzle]:
    """Yield puzzles without end. Each takes about 15 s of a processor."""
    maker = PuzzleMaker()
    for rules, position in positions(Random(seed)):
        turn = maker.best_turn(position)
        level = turn and maker.level_of(position, turn)
        if turn is not None and level is not None:
            yield puzzle_of_turn(rules, position, turn, level)


def main(arguments: list[str]) -> None:
    """Print the puzzles of a seed as lines of the file."""
    seed, count = arguments
    print("# python -m tests.puzzles.making", seed, count)
    for puzzle in islice(made(seed), int(count)):
        print(puzzle.line(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
