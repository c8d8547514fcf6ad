"""The house bot `searcher`: its answers, its clock, and what it prefers."""

import random
from functools import partial

import pytest

from engine.editions import PRESETS
from engine.moves import BUY
from engine.strategy import actions_of
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

BOT = load_house_bot("searcher")


@pytest.mark.parametrize("ruleset", PRESETS)
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str) -> None:
    """The time is too short for one beam: the bot answers what it has."""
    game = new_game("searcher", ruleset)
    rng = random.Random(1)
    for _ in range(12):
        for action in BOT.choose(question(game, 0.1), game.rules, rng):
            game.play(action)  # raises an error if the action is illegal


def test_where_to_put_the_king_is_an_answer_of_its_own() -> None:
    game = new_game("king")
    advance(game, "king", phase=1)
    actions = BOT.choose(question(game, 100), game.rules, random.Random(1))

    assert len(actions) == 1
    assert actions[0] in game.legal()


def test_nothing_follows_a_purchase() -> None:
    game = new_game("buy")
    advance(game, "turn")
    seat = game.position.copy()
    moves = [move for move in seat.legal() if move >> 16 == BUY]

    assert actions_of(seat, moves) == ["buy"]


def test_it_keeps_to_its_share_of_the_clock() -> None:
    game = new_game("clock")
    advance(game, "turn")
    for move_ms in (40, 4_000):
        asked = question(game, move_ms, 0)
        used_ms = cpu_ms(partial(BOT.choose, asked, game.rules, random.Random(1)))
        assert used_ms < min(BOT.MOVE_SHARE * move_ms, 1000 * BOT.MAX_S) + CALL_MS


@pytest.mark.parametrize(("bank_ms", "at_once"), [(150, True), (10_000, False)])
def test_it_answers_at_once_if_its_slowest_answer_took_as_long(
    bank_ms: int, *, at_once: bool
) -> None:
    game = new_game("late")
    advance(game, "turn")
    asked = question(game, 30, bank_ms)
    slowest_s = 0.1
    actions = BOT.choose(asked, game.rules, random.Random(1), slowest_s)
    assert (actions == game.legal()[:1]) == at_once


def test_equal_seeds_give_equal_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the work that a turn may take ends the search, also without a compiler.
    monkeypatch.setattr(BOT, "MAX_S", 600.0)
    game = new_game("again")
    advance(game, "turn")
    answers = [
        BOT.choose(question(game, 10_000_000), game.rules, random.Random(3))
        for _ in range(2)
    ]

    assert answers[0] == answers[1]
    assert len(answers[0]) > 1


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    game = before_the_last_turn()
    seat = game.seat or 0
    passive = lead_with_scores_only(game, seat)
    while not game.over:
        for action in BOT.choose(question(game, 1000), game.rules, random.Random(1)):
            game.play(action)

    assert lead(game, seat) >= passive
