"""The search of whole turns."""

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import engine
from engine.evaluation import FEATURES, Evaluator, key_of
from engine.kernel import Position
from engine.moves import END, TURN
from engine.notation import text
from engine.turns import Turn, TurnSearch
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on, position

ROOT = Path(engine.__file__).parents[1]
POINTS = [{"score": 1.0, "castles": 1.0, "levels": 0.1}] * 4
EVALUATOR = Evaluator(POINTS, POINTS)
SEARCH = TurnSearch(EVALUATOR, [{"ap": 1.0}] * 4)
BOTH = """
import engine
from engine.evaluation import Evaluator
from engine.turns import TurnSearch
weights = [{"score": 1, "castles": 2, "king": 1, "levels": 0.5, "climbs": 0.25}] * 4
search = TurnSearch(Evaluator(weights, weights), [{"ap": 1.5, "climbs": 0.5}] * 4)
found = []
for seats in (2, 3):
    rules = engine.resolve("yucata", seats)
    position = engine.kernel.start(rules, engine.derive(rules, "both"))
    for ply in range(40):
        moves = position.legal()
        position.perform(moves[len(moves) // 2])
    found += [turn[:3] for turn in search.best(position, 6, 5)]
print(engine.compiled, repr(found).replace(" ", ""))
"""


def in_the_middle(ruleset: str = "yucata", seats: int = 2) -> Position:
    torres = game(ruleset, seats, "turns")
    for ply, _ in enumerate(play_on(torres, Random(seats))):
        if ply > 40 and torres.decision == "turn" and torres.position.ap == 5:
            break
    return torres.position


def every_turn(root: Position) -> dict[int, float]:
    """Return the values of all positions in which the turn may end, by their keys."""
    values = {}
    known = {key_of(root)}
    waiting = [root]
    while waiting:
        before = waiting.pop()
        if before.seat != root.seat or before.stock.current >= 0:
            values[key_of(before)] = EVALUATOR.value(before, root.seat)
        for move in before.legal() if before.seat == root.seat else []:
            after = before.copy()
            after.perform(move)
            if move >> 16 != END and key_of(after) not in known:
                known.add(key_of(after))
                waiting.append(after)
    return values


def actions(turn: Turn, root: Position) -> list[str]:
    on = root.copy()
    words = []
    for move in turn.moves:
        words.append(text(on, move))
        on.apply(move)
    return words


def test_a_beam_that_is_wide_enough_finds_every_turn() -> None:
    root = position("a4=2 a5 a6", "a4", ap=2, decks=[[], []], current=1)
    values = every_turn(root)
    turns = SEARCH.best(root, 10_000, 10_000)

    assert len(values) > 30
    assert {turn.key: turn.value for turn in turns} == values
    assert turns == sorted(turns, key=lambda turn: (turn.value, turn.key), reverse=True)


def test_several_actions_lead_to_points_that_no_single_one_brings() -> None:
    root = position("c3=2 c4 c5=2 d4 d5=3", "c3 h8", ap=3, current=0, stacks=[[], []])
    turns = SEARCH.best(root, 500, 1)

    assert actions(turns[0], root) == ["move c3 c4", "move c4 c5", "move c5 d5"]
    assert turns[0].value == EVALUATOR.value(turns[0].position, 0)


def test_the_promise_decides_what_a_narrow_beam_keeps() -> None:
    root = position("c3 c4 c5", "c3", ap=3, current=0, stacks=[[], []])
    score = TurnSearch(EVALUATOR, [{}] * 4)
    add = TurnSearch(EVALUATOR, [{"reserve": -100.0}] * 4)

    assert actions(score.best(root, 1, 1)[0], root) == ["score"] * 3
    assert actions(add.best(root, 1, 1)[0], root) == ["add c4", "score"]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_moves_of_a_turn_are_legal_and_lead_to_its_position(
    ruleset: str, seats: int
) -> None:
    root = in_the_middle(ruleset, seats)
    before = root.copy()
    turns = SEARCH.best(root, 8, 6)

    assert len(turns) == 6
    for turn in turns:
        after = root.copy()
        for move in turn.moves:
            after.apply(move)
        assert key_of(after) == key_of(turn.position) == turn.key
        assert EVALUATOR.value(after, root.seat) == turn.value
        assert after.decision != TURN or after.outcomes(END) > 0
    assert key_of(root) == key_of(before)
    assert SEARCH.best(root, 8, 6)[0][:3] == turns[0][:3]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_turns_have_the_values_that_the_evaluator_gives_their_positions(
    ruleset: str, seats: int
) -> None:
    """The search does not measure rivals again that a move cannot affect."""
    rng = Random(f"{ruleset} {seats}")
    rows = [{name: rng.uniform(-1, 1) for name in FEATURES} for _ in range(8)]
    evaluator = Evaluator(rows[:4], rows[4:])
    search = TurnSearch(evaluator, [{"ap": 1.0}] * 4)
    searched = 0
    for seed in ("first", "second"):
        torres = game(ruleset, seats, f"values {seed}")
        for ply, _ in enumerate(play_on(torres, rng, favour="block")):
            root = torres.position
            if torres.over or not root.phase or ply % 7:
                continue
            for turn in search.best(root, 3, 100):
                searched += 1
                assert turn.value == evaluator.value(turn.position, root.seat)
                assert turn.key == key_of(turn.position)

    assert searched > 300


def test_a_block_that_leaves_a_castle_makes_rivals_worth_less() -> None:
    """The castle of the rival gets smaller, and nothing happens beside its knight."""
    root = position("a4 b4 c4", "h8", "a4", hands=[["move_block"], []], ap=0)
    turn = SEARCH.best(root, 8, 1)[0]

    assert actions(turn, root)[0].startswith("play move_block c4 ")
    assert turn.value == EVALUATOR.value(turn.position, 0)
    assert turn.value == EVALUATOR.value(root, 0) + 1


@pytest.mark.parametrize("ruleset", ["yucata", "devir-2017-master"])
def test_the_turn_may_begin_in_its_middle_or_with_the_king(ruleset: str) -> None:
    """In the master version another seat may begin the phase after the king."""
    torres = game(ruleset, 2, "king")
    passed_on = 0
    for _ in play_on(torres, Random(3), favour="buy"):
        if torres.decision == "keep" or (
            torres.decision == "king" and torres.position.phase
        ):
            turns = SEARCH.best(torres.position, 4, 3)
            first = text(torres.position, turns[0].moves[0])
            assert first.split()[0] == torres.decision
            passed_on += turns[0].position.seat != torres.seat

    assert (passed_on > 0) == (ruleset != "yucata")


def test_a_search_without_time_has_only_the_turn_that_ends_at_once() -> None:
    root = in_the_middle()
    now = time.process_time()

    assert [turn.moves for turn in SEARCH.best(root, 8, 8, now - 1)] == [()]
    root = position("c3", "c3", ruleset="devir-2017", current=None)
    assert SEARCH.best(root, 8, 8, now - 1) == []


def test_a_search_stops_in_time() -> None:
    root = in_the_middle()
    began = time.process_time()
    turns = SEARCH.best(root, 100_000, 4, began + 0.05)

    assert time.process_time() - began < 2
    assert turns[0].value >= EVALUATOR.value(root, root.seat)


def test_wrong_arguments_are_refused() -> None:
    root = in_the_middle()
    with pytest.raises(ValueError, match="width 0, limit 1: both must be at least 1"):
        SEARCH.best(root, 0, 1)
    with pytest.raises(ValueError, match="width 1, limit 0"):
        SEARCH.best(root, 1, 0)
    torres = game("yucata", 2)
    for _ in play_on(torres, Random(1)):
        pass
    with pytest.raises(ValueError, match="seat -1"):
        SEARCH.best(torres.position, 1, 1)


def run_both(pure: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BOTH],
        env=os.environ | {"TORRES_PURE": pure, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not engine.compiled, reason="the kernel is not compiled")
def test_compiled_and_plain_find_the_same_turns() -> None:
    assert run_both("0") == ["True", run_both("1")[1]]
