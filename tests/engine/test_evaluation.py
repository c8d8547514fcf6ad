"""Features, evaluators, and the best next moves."""

from random import Random
from typing import Any

import pytest

from engine import view
from engine.evaluation import FEATURES, Evaluator, features, key_of
from engine.kernel import Position
from engine.moves import BUY, END
from engine.notation import move_of
from engine.playouts import average_leads
from engine.search import castles_of, ranks_of
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on, position

SCORES = [{"score": 1.0}] * 4


def measured(on: Position, seat: int = 0) -> dict[str, float]:
    return dict(zip(FEATURES, features([on], seat), strict=True))


def after(on: Position, *actions: str) -> Position:
    copy = on.copy()
    for action in actions:
        move = move_of(copy, action)
        assert move is not None
        copy.apply(move)
    return copy


def test_the_features_of_a_board() -> None:
    on = position(
        "a4=2 a5 a6 c3 h5=3 h6 h7",
        "a4 a5 c3",
        "h5",
        king="a6",
        scores=[3, 9],
        reserve=[3, 5],
        hands=[["ap6", "jump"], ["up2"]],
        decks=[["up2"], []],
    )
    own = measured(on)

    assert {name: n for name, n in own.items() if n} == {
        "score": 3,
        "castles": 3 * 2 + 1 * 1,
        "king": 5,
        "held": 2,
        "areas": 4,
        "court": 2,
        "knights": 3,
        "levels": 4,
        "top": 2,
        "reserve": 3,
        "blocks": 3 + 9,
        "cards": 2,
        "deck": 1,
        "hand_ap6": 1,
        "hand_jump": 1,
        "ap": 5,
        "heights": 2 + 1,
    }
    assert measured(on, 1)["castles"] == 9
    assert measured(on, 1)["ap"] == 0
    assert measured(after(on, "move a4 b4"), 0)["court"] == 1


def test_a_knight_below_an_empty_step_may_climb() -> None:
    assert measured(position("a4 a5=2 a6=2", "a4"))["climbs"] == 1
    assert measured(position("a4 a5=2 a6=2", "a4", "a5"))["climbs"] == 0
    assert measured(position("a4 a5=3 a6=2", "a4"))["climbs"] == 0


@pytest.mark.parametrize(
    ("blocks", "knights", "king", "lifts", "raises"),
    [
        ("a4 a5=2 a6 c3=2 c4=2", "a4 c3", None, 3, 0),  # c5 is bare board
        ("a4 a5 a6 a7", "a4", None, 0, 4),
        ("a4 a5 a6 a7", "a4", "a5", 0, 0),  # a block needs an empty space
        ("a4=2 a5=2", "a4", None, 0, 0),  # too high for its castle
        ("a4 a5=2 b4 b5=2 a3 b3", "a4 b4", None, 6, 6),  # a castle counts once
        ("a4=2 a5 a6=2 a7 b5", "a4 a7", None, 0, 0),  # the lower knight gains nothing
        ("a4 a5=3 b4=3", "a4", None, 0, 0),
        ("a4 c4=2", "a4 b4", None, 0, 0),  # other castles and the ground do not count
    ],
)
def test_chances_of_the_highest_knights(
    blocks: str, knights: str, king: str | None, lifts: int, raises: int
) -> None:
    own = measured(position(blocks, knights, king=king))

    assert (own["lifts"], own["raises"]) == (lifts, raises)


def test_a_card_that_waits_for_keep_counts_as_held() -> None:
    torres = game("yucata", 2)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    torres.play("buy")
    assert torres.decision == "keep"
    seat = torres.seat or 0

    assert measured(torres.position, seat)["cards"] == 1
    assert measured(torres.position, 1 - seat)["cards"] == 0
    torres.play(torres.legal()[0])
    assert measured(torres.position, seat)["cards"] == 1


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_features_agree_with_the_state(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "features")
    for number, _ in enumerate(play_on(torres, Random(seats), favour="buy")):
        if torres.over or number % 20:
            continue
        state: Any = torres.state()
        for seat in range(seats):
            own = measured(torres.position, seat)
            waiting = torres.decision == "keep" and torres.seat == seat
            stacks = sum(state["stacks"][seat]) + state["carried"][seat]
            current = (state["current"] or 0) if state["seat"] == seat else 0
            points = [
                castle.area * castle.levels[seat]
                for castle in castles_of(torres.position)
                if castle.levels[seat]
            ]
            assert own["score"] == state["scores"][seat]
            assert own["castles"] == sum(points)
            assert own["knights"] == len(state["knights"][seat])
            assert own["reserve"] == state["reserve"][seat]
            assert own["blocks"] == stacks + current
            assert own["cards"] == len(state["hands"][seat]) + waiting
            assert own["hand_jump"] == state["hands"][seat].count("jump")


def test_castles_are_listed_with_levels_and_king() -> None:
    castles = castles_of(position("h5 a4=2 a5 c3", "a4 a5", "c3", king="a5"))

    assert [castle.area for castle in castles] == [2, 1, 1]
    assert [castle.height for castle in castles] == [2, 1, 1]
    assert [castle.levels for castle in castles] == [(2, None), (None, 1), (None, None)]
    assert [castle.king for castle in castles] == [True, False, False]
    assert view.spaces_of(castles[0].spaces) == ["a4", "a5"]
    assert not castles_of(position("a4"))[0].king


def test_ranks_are_those_of_the_result() -> None:
    torres = game("yucata", 4, "ranks")
    for _ in play_on(torres, Random(2)):
        pass
    assert torres.result is not None

    assert ranks_of(torres.position) == torres.result["ranks"]
    assert ranks_of(position("a4", scores=[0, 0])) == [1, 1]


def test_a_value_is_a_lead_over_the_best_rival() -> None:
    torres = game("yucata", 3)
    torres.position.track.scores = [7, 4, 9, 0]

    evaluator = Evaluator(SCORES, [{"score": 0.5}] * 4)
    assert evaluator.value(torres.position, 0) == 7 - 4.5
    assert evaluator.values([torres.position] * 2, 2) == [9 - 3.5] * 2


def test_the_weights_are_those_of_the_phase() -> None:
    rows = [{"score": float(phase)} for phase in range(4)]
    evaluator = Evaluator(rows, [{}] * 4)

    for phase in range(1, 4):
        on = position("a4", phase=phase, scores=[10, 0])
        assert evaluator.value(on, 0) == 10 * phase


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="3 rows of weights; 4 are needed"):
        Evaluator(SCORES[:3], SCORES)
    with pytest.raises(ValueError, match="there is no feature 'luck'"):
        Evaluator(SCORES, [{"luck": 1.0}] * 4)


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_expand_reaches_what_single_moves_reach(ruleset: str, seats: int) -> None:
    evaluator = Evaluator([{"score": 1, "castles": 2, "levels": 0.5}] * 4, SCORES)
    torres = game(ruleset, seats, "expand")
    for number, _ in enumerate(play_on(torres, Random(seats))):
        if torres.over or number % 25:
            continue
        on = torres.position
        expected = {}
        for move in on.legal():
            if move >> 16 != END:
                child = on.copy()
                child.perform(move)
                expected[key_of(child)] = evaluator.value(child, 0)
        found = evaluator.expand([on], 0, 10_000)
        assert {key: value for value, key, _, _ in found} == expected
        assert found == sorted(found, reverse=True)
        for value, key, index, move in found:
            child = on.copy()
            child.apply(move)
            assert (value, key, index) == (expected[key], key_of(child), 0)


def test_expand_returns_the_best_of_several_positions_once() -> None:
    evaluator = Evaluator(SCORES, [{}] * 4)
    low = position("a4", scores=[1, 0])
    high = position("a4", scores=[5, 0])
    found = evaluator.expand([low, high, high.copy()], 0, 2)

    assert [(value, index) for value, _, index, _ in found] == [(6, 1), (5, 1)]


def test_the_key_does_not_depend_on_the_way() -> None:
    on = position("a4=2 a5 c3", "a4 c3")

    one = after(on, "score", "move a4 b4", "block a5")
    two = after(on, "move a4 b4", "block a5", "score")
    assert key_of(one) == key_of(two) != key_of(on)
    assert key_of(on.copy()) == key_of(on)


def test_different_positions_have_different_keys() -> None:
    keys = set()
    count = 0
    for ruleset in ("yucata", "devir-2017-shared-deck", "torres-3d"):
        torres = game(ruleset, 3, "keys")
        for _ in play_on(torres, Random(5), favour="buy"):
            keys.add(key_of(torres.position))
            count += 1
    assert len(keys) == count


@pytest.mark.parametrize(
    "change",
    [
        {"hands": [["ap6"], []]},
        {"decks": [["ap6", "ap7"], []]},
        {"decks": [["ap7", "ap6"], []]},
        {"played": True},
        {"scores": [1, 0]},
        {"supply": 39},
        {"carried": [1, 0]},
        {"stacks": [[3, 3, 3], [3, 3, 2]]},
        {"king": "h8"},
        {"reserve": [5, 4]},
        {"bought": 1},
        {"placed": 1},
        {"phase": 2},
        {"round": 2},
        {"ap": 4},
    ],
)
def test_every_part_of_a_position_is_in_the_key(change: dict[str, Any]) -> None:
    assert key_of(position("a4 h8", **change)) != key_of(position("a4 h8"))


def test_a_purchase_is_among_the_moves() -> None:
    torres = game("yucata", 2)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    moves = [m for *_, m in Evaluator(SCORES, SCORES).expand([torres.position], 0, 99)]

    assert BUY << 16 in moves


@pytest.mark.parametrize("seat", [-1, 2, 9])
def test_a_seat_that_does_not_exist_is_refused(seat: int) -> None:
    """Compiled code reads beyond its arrays otherwise, and the process crashes."""
    two = game("yucata", 2).position
    evaluator = Evaluator([{"score": 1.0}] * 4, [{}] * 4)

    for call in (
        lambda: features([two], seat),
        lambda: evaluator.value(two, seat),
        lambda: evaluator.values([two], seat),
        lambda: evaluator.expand([two], seat, 3),
        lambda: average_leads([two], seat, games=1, seed=1),
    ):
        with pytest.raises(ValueError, match=f"seat {seat} in a position with 2"):
            call()


def test_what_is_no_position_is_refused() -> None:
    with pytest.raises(AttributeError):
        features([None], 0)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="0 games"):
        average_leads([], 0, games=0, seed=1)
