"""The house bot `master`: its answers, its clock, and how wide it searches."""

import math
import random
from functools import partial

import pytest

from engine.editions import PRESETS
from engine.game import TorresGame
from engine.moves import BUY, KEEP
from engine.strategy import actions_of, in_order
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

BOT = load_house_bot("master")


def answer(game: TorresGame, move_ms: float = 1000, bank_ms: float = 0) -> list[str]:
    actions: list[str] = BOT.choose(
        question(game, move_ms, bank_ms), BOT.Planner(game.rules), random.Random(1)
    )
    return actions


@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str, seats: int) -> None:
    """The time is too short for a beam: the bot answers what it has."""
    game = new_game("master", ruleset, seats)
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


def test_the_first_purchase_ends_the_answer_and_comes_last() -> None:
    game = new_game("buy")
    advance(game, "turn")
    search = BOT.Planner(game.rules).searches.of(game.position)
    turns = [t for t in search.best(game.position, 200, 500) if BUY << 16 in t.moves]
    mixed = [t for t in turns if t.moves[-1] >> 16 not in (BUY, KEEP)]

    assert len(mixed) > 20
    for turn in mixed:
        moves = in_order(turn.moves)
        words = actions_of(game.position.copy(), moves)
        assert words.index("buy") == len(words) - 1 == len(moves) - 1
        assert not any(word.startswith("keep") for word in words)
        after = game.copy()
        for word in words:
            after.play(word)  # raises an error if the action is illegal


def test_it_keeps_to_its_share_of_the_clock() -> None:
    game = new_game("clock")
    advance(game, "turn", phase=2)
    for move_ms, bank_ms in ((40, 0), (4_000, 0), (0, 10_000)):
        used_ms = cpu_ms(partial(answer, game, move_ms, bank_ms))
        share_ms = BOT.MOVE_SHARE * move_ms + BOT.BANK_SHARE * bank_ms
        assert used_ms < min(share_ms, 1000 * BOT.MAX_S) + CALL_MS


def test_the_speed_decides_how_wide_the_beam_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = new_game("width")
    advance(game, "turn", phase=2)
    planner = BOT.Planner(game.rules)
    search = planner.searches.of(game.position)
    widths = []
    monkeypatch.setattr(BOT.time, "process_time", lambda: 0.01 * len(widths))

    class Recorder:
        def best(self, position: object, width: int, *others: float) -> list[object]:
            widths.append(width)
            found: list[object] = search.best(position, 1, 1)
            return found

    monkeypatch.setattr(planner.searches, "of", lambda position: Recorder())
    planner.plan(game.position, 0.05)  # 10 ms for the first beam, 40 ms are left
    planner.plan(game.position, 1000.0)
    assert widths[:2] == [BOT.FIRST_WIDTH, int(4 * BOT.SPARE * BOT.FIRST_WIDTH)]
    assert widths[2:] == [BOT.FIRST_WIDTH, BOT.WIDTH]


def test_without_a_limit_equal_positions_give_equal_turns() -> None:
    game = new_game("again")
    advance(game, "turn")
    turns = [BOT.Planner(game.rules).plan(game.position, math.inf) for _ in range(2)]

    assert turns[0] == turns[1]
    assert len(turns[0]) > 1


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    game = before_the_last_turn()
    seat = game.seat or 0
    passive = lead_with_scores_only(game, seat)
    while not game.over:
        for action in answer(game):
            game.play(action)

    assert lead(game, seat) >= passive
