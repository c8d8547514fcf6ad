"""The parts that strong house bots share: learned weights, answers, the protocol."""

import io
import json
import math
import sys
from random import Random
from typing import Any

import pytest

from engine import TorresGame, derive
from engine.evaluation import Evaluator
from engine.kernel import Position
from engine.moves import KING_DUE
from engine.rulesets import resolve
from engine.strategy import LearnedSearches, answer, speak
from tests.engine.factories import position

PROMISE = [{"ap": 1.0}] * 4
LEARNED = [
    {"score": (1.0, 0.0), "levels": (phase, 0.5), "castles": (0.25, phase)}
    for phase in (1.0, 2.0, 3.0)
]


def at(phase: int, round_number: int, turn: int) -> Position:
    on = position("a4=2 a5 c3=3 c4", "a4 a5", "c3", scores=[3, 9])
    on.phase, on.round, on.turn = phase, round_number, turn
    return on


def worth(on: Position, seat: int, phase: int, left: float) -> float:
    """Return what the features of a seat are worth with the weights above."""
    own = {name: a + b * left for name, (a, b) in LEARNED[phase - 1].items()}
    return Evaluator([own] * 4, [{}] * 4).value(on, seat)


@pytest.mark.parametrize("phase", [1, 2, 3])
def test_a_rival_that_still_plays_in_the_round_has_a_turn_more(phase: int) -> None:
    searches = LearnedSearches(resolve("yucata", 2), LEARNED, PROMISE)
    for turn, rival_left in ((0, 2), (1, 1)):
        on = at(phase, 3, turn)
        value = searches.of(on).evaluator.value(on, 0)
        assert value == pytest.approx(
            worth(on, 0, phase, 1) - worth(on, 1, phase, rival_left)
        )


def test_at_large_tables_the_best_rival_counts() -> None:
    """With one of two rivals still to play, a rival has half a turn more.

    Points of a rival count half, because there are two.
    """
    on = at(1, 4, 1)
    searches = LearnedSearches(resolve("yucata", 3), LEARNED, PROMISE)

    value = searches.of(on).evaluator.value(on, 0)
    rival = worth(on, 1, 1, 0.5)
    assert value == pytest.approx(worth(on, 0, 1, 0) - 0.5 * rival)


def test_the_king_is_put_for_the_next_phase() -> None:
    searches = LearnedSearches(resolve("yucata", 2), LEARNED, PROMISE)
    on = at(1, 4, 1)
    on.decision = KING_DUE

    evaluator = searches.of(on).evaluator
    assert evaluator is searches.of(at(2, 1, 0)).evaluator
    assert evaluator is not searches.of(at(1, 4, 1)).evaluator


def question(game: TorresGame) -> dict[str, Any]:
    return {
        "decision": game.decision,
        "state": game.state(game.seat),
        "legal": game.legal(),
    }


def new_game() -> TorresGame:
    rules = resolve("yucata", 2)
    return TorresGame(rules, derive(rules, "answers"))


def test_a_turn_is_planned_and_other_questions_are_not() -> None:
    game, planned = new_game(), []

    def plan(position: Position, guess: Any, ends: float) -> list[int]:
        assert ends == math.inf
        assert position.legal() == guess().legal()
        planned.append(game.decision)
        return position.legal()[:1] if len(planned) == 1 else []

    while game.decision != "turn":
        for action in answer(
            question(game), game.rules, Random(1), plan, (math.inf, 0.0)
        ):
            game.play(action)
    first = answer(question(game), game.rules, Random(1), plan, (math.inf, 0.0))
    second = answer(question(game), game.rules, Random(1), plan, (math.inf, 0.0))

    assert planned == ["turn", "turn"]
    assert first[0] in game.legal()
    assert second[0] in game.legal()


def test_a_question_with_one_action_needs_no_rules() -> None:
    only: dict[str, Any] = {"legal": ["end"]}

    assert answer(only, None, None, None, (0, 0)) == ["end"]  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ['{"type":"end"}\n{"type":"decide"}\n', ""])
def test_a_bot_speaks_the_protocol(
    end: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hello = {"type": "hello", "ruleset": "yucata", "seats": 3, "switches": {}}
    lines = [hello | {"seed": "s"}, {"type": "news"}, {"type": "decide", "n": 7}]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text + end))
    speak("b", lambda rules: rules.seats, lambda m, seats, _: [f"{m['n']} {seats}"])

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"type": "ready", "name": "b"},
        {"actions": ["7 3"]},
    ]
