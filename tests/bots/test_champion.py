"""The house bot `champion`: its answers, its clock, and how it chooses among turns."""

import math
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engine.editions import PRESETS
from engine.evaluation import FEATURES
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY, END, OVER
from engine.search import determinize
from tests.bots.factories import (
    CALL_MS,
    advance,
    before_the_last_turn,
    cpu_ms,
    lead,
    lead_with_scores_only,
    load_house_bot,
    new_game,
    question,
)

BOT = load_house_bot("champion")


def answer(game: TorresGame, move_ms: float = 1000, bank_ms: float = 0) -> list[str]:
    actions: list[str] = BOT.choose(
        question(game, move_ms, bank_ms), BOT.Planner(game.rules), random.Random(1)
    )
    return actions


def guesses(game: TorresGame) -> Callable[[], Position]:
    rng = random.Random(1)
    return lambda: determinize(game.position, game.position.seat, rng)


@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str, seats: int) -> None:
    """The time is too short to play on: the bot answers what it has."""
    game = new_game("champion", ruleset, seats)
    for move_ms in (0.1, 40):
        for _ in range(10):
            for action in answer(game, move_ms):
                game.play(action)  # raises an error if the action is illegal


def test_where_to_put_the_king_is_an_answer_of_its_own() -> None:
    game = new_game("king")
    advance(game, "king", phase=1)
    actions = answer(game)

    assert len(actions) == 1
    assert actions[0] in game.legal()


def test_it_keeps_to_its_share_of_the_clock() -> None:
    game = new_game("clock")
    advance(game, "turn", phase=2)
    for move_ms, bank_ms in ((40, 0), (4_000, 0), (0, 10_000)):
        used_ms = cpu_ms(partial(answer, game, move_ms, bank_ms))
        left_ms = max(move_ms - BOT.READING_MS, 0)
        share_ms = BOT.MOVE_SHARE * left_ms + BOT.BANK_SHARE * bank_ms
        assert used_ms < min(share_ms, 1000 * BOT.MAX_S) + CALL_MS


def test_without_a_limit_equal_guesses_give_equal_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BOT, "WIDTH", 20)
    monkeypatch.setattr(BOT, "CANDIDATES", 4)
    game = new_game("again")
    advance(game, "turn")
    turns = [BOT.Planner(game.rules).plan(guesses(game), math.inf) for _ in range(2)]

    assert turns[0] == turns[1]
    assert len(turns[0]) > 1


def best_of(values: dict[str, list[float | None]]) -> tuple[str, list[str]]:
    """Return which plan is chosen and which ones were valued, in that order."""
    game = new_game("halves")
    planner = BOT.Planner(game.rules)
    asked: list[str] = []

    def value_of(world: object, plan: str, ends: float) -> float | None:
        asked.append(plan)
        return values[plan].pop(0)

    planner.value_of = value_of
    return planner.best_of(list(values), lambda: None, math.inf), asked


def test_the_worse_half_of_the_turns_drops_out_in_each_guess() -> None:
    chosen, asked = best_of({"a": [1.0], "b": [5.0, 1.0], "c": [4.0, 3.0], "d": [2.0]})

    assert asked == ["a", "b", "c", "d", "b", "c"]
    assert chosen == "c"


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        # Over in the first guess: the best of those that were valued, or the first one.
        ({"a": [1.0], "b": [5.0], "c": [None], "d": [9.0]}, "b"),
        ({"a": [None], "b": [5.0], "c": [2.0], "d": [9.0]}, "a"),
        # Over in a later one: what the guesses before it say.
        ({"a": [1.0], "b": [5.0, 0.0], "c": [4.0, None], "d": [2.0]}, "b"),
    ],
)
def test_if_time_is_over_it_chooses_by_what_it_knows(
    values: dict[str, list[float | None]], chosen: str
) -> None:
    assert best_of(values)[0] == chosen


def test_the_first_guess_gets_half_of_the_time() -> None:
    planner = BOT.Planner(new_game("half").rules)
    limits: list[float] = []

    def value_of(world: object, plan: str, ends: float) -> float:
        limits.append(ends)
        return 1.0

    planner.value_of = value_of
    now = time.process_time()
    planner.best_of(["a", "b", "c"], lambda: None, now + 1_000)

    assert now + 500 <= limits[0] < now + 1_000
    assert limits == [limits[0]] * 3 + [now + 1_000] * 2


@pytest.mark.parametrize(("phase", "seats"), [(1, 2), (2, 3), (3, 4)])
def test_a_turn_is_worth_what_the_phase_ends_with(phase: int, seats: int) -> None:
    game = new_game("value", seats=seats)
    advance(game, "turn", phase)
    world = game.position
    planner = BOT.Planner(game.rules)
    position = planner.reply(world, math.inf)
    while True:
        after = position.copy()
        after.perform(END << 16)
        if after.decision == OVER or after.phase > phase or not _is_turn(after):
            break
        position = planner.reply(after, math.inf)
    searches = planner.searches.of(position)
    expected = searches.evaluator.value(position, world.seat)
    if after.decision == OVER:
        expected = BOT.lead_of(list(after.track.scores)[:seats], world.seat)
    moves = planner.searches.of(world).best(world, BOT.REPLY_WIDTH, 1)[0].moves

    if not any(move >> 16 == BUY for move in moves):
        assert planner.value_of(world, moves, math.inf) == expected


def test_a_value_takes_time() -> None:
    game = new_game("value")
    advance(game, "turn")

    assert BOT.Planner(game.rules).value_of(game.position, [], 0.0) is None


def _is_turn(position: Position) -> bool:
    return bool(position.decision == BOT.TURN)


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    game = before_the_last_turn()
    seat = game.seat or 0
    passive = lead_with_scores_only(game, seat)
    while not game.over:
        for action in answer(game):
            game.play(action)

    assert lead(game, seat) >= passive


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_only_with_two_seats_turns_are_played_on(
    monkeypatch: pytest.MonkeyPatch, seats: int
) -> None:
    monkeypatch.setattr(BOT, "WIDTH", 20)
    monkeypatch.setattr(BOT, "WIDTH_ALONE", 20)
    game = new_game("seats", seats=seats)
    advance(game, "turn")
    planner = BOT.Planner(game.rules)
    valued: list[object] = []

    def value_of(world: object, plan: object, ends: float) -> float:
        valued.append(plan)
        return 0.0

    planner.value_of = value_of
    moves = planner.plan(guesses(game), math.inf)

    assert moves
    assert (moves in valued) == (seats == 2)


def test_the_weights_are_those_of_features_for_each_phase() -> None:
    learned: dict[str, list[dict[str, Any]]] = BOT.LEARNED

    assert list(learned) == ["2", "3", "4"]
    for phases in learned.values():
        assert len(phases) == 3
        for weights in phases:
            assert set(weights) < set(FEATURES)
            assert all(len(pair) == 2 for pair in weights.values())
