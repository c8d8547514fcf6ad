"""Learned weights: which numbers a turn searches with."""

import pytest

from engine.evaluation import Evaluator
from engine.kernel import Position
from engine.moves import KING_DUE
from engine.rulesets import resolve
from engine.strategy import LearnedSearches
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
    """With one of two rivals still to play, a rival has half a turn more."""
    on = at(1, 4, 1)
    searches = LearnedSearches(resolve("yucata", 3), LEARNED, PROMISE)

    value = searches.of(on).evaluator.value(on, 0)
    assert value == pytest.approx(worth(on, 0, 1, 0) - worth(on, 1, 1, 0.5))


def test_the_king_is_put_for_the_next_phase() -> None:
    searches = LearnedSearches(resolve("yucata", 2), LEARNED, PROMISE)
    on = at(1, 4, 1)
    on.decision = KING_DUE

    assert searches.of(on) is searches.of(at(2, 1, 0))
    assert searches.of(on) is not searches.of(at(1, 4, 1))
