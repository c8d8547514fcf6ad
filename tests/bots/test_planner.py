"""The house bot `planner`: its answers, its clock, and what it prefers."""

import random
from functools import partial

import pytest

from engine.editions import PRESETS
from engine.game import TorresGame
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

BOT = load_house_bot("planner")


def answer(game: TorresGame, move_ms: float = 1000) -> list[str]:
    rules = game.rules
    actions: list[str] = BOT.choose(
        question(game, move_ms), BOT.Judge(rules), random.Random(1)
    )
    return actions


@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str, seats: int) -> None:
    """The time is too short for a beam: the bot answers what it has."""
    game = new_game("planner", ruleset, seats)
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


def test_a_purchase_ends_the_answer_and_comes_after_the_other_actions() -> None:
    game = new_game("buy")
    advance(game, "turn")
    search = BOT.Judge(game.rules).searches.of(game.position)
    turns = [t for t in search.best(game.position, 200, 500) if BUY << 16 in t.moves]
    candidates = BOT.candidates_of(game.position, turns)

    assert len(candidates) == BOT.CANDIDATES
    assert all(buys > 0 for _, _, buys in candidates)
    assert not any(BUY << 16 in moves for _, moves, _ in candidates)
    assert len({(moves, buys) for _, moves, buys in candidates}) == len(candidates)
    _, moves, _ = candidates[0]
    words = actions_of(game.position.copy(), [*moves, BUY << 16])
    assert words[-1] == "buy"
    assert len(words) == len(moves) + 1


def test_it_keeps_to_its_share_of_the_clock() -> None:
    game = new_game("clock")
    advance(game, "turn", phase=2)
    for move_ms in (40, 4_000):
        used_ms = cpu_ms(partial(answer, game, move_ms))
        assert used_ms < min(BOT.MOVE_SHARE * move_ms, 1000 * BOT.MAX_S) + CALL_MS


def test_visits_lead_to_the_turn_that_is_better_in_the_tree() -> None:
    node = BOT.Node(None, 2)
    node.grow([10.0, 9.0, -50.0], [None] * 3)
    for _ in range(200):
        number = node.select()
        node.report(number, (5.0, 8.0, 0.0)[number])

    assert node.counts[1] > 150 > node.counts[0] > 0
    assert node.visits == sum(node.counts) == 200


def test_the_castles_of_a_phase_that_is_over_count_once() -> None:
    game = new_game("between")
    advance(game, "king", phase=1)
    judge = BOT.Judge(game.rules)
    values = judge.values(game.position)
    later = game.position.copy()
    later.phase = 2

    assert values == [
        judge.searches.of_round(2, 1).evaluator.value(later, seat) for seat in range(2)
    ]
    assert game.position.phase == 1


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    game = before_the_last_turn()
    seat = game.seat or 0
    passive = lead_with_scores_only(game, seat)
    while not game.over:
        for action in answer(game):
            game.play(action)

    assert lead(game, seat) >= passive
