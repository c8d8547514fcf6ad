"""Phases, rounds and turns, and what is between them (docs/rules.md, 22-30, 60-71)."""

from random import Random
from typing import Any

import pytest

from engine.game import TorresGame
from engine.notation import move_of
from engine.view import spaces_of
from tests.engine.factories import (
    allows,
    begun,
    end_phase,
    end_turn,
    game,
    legal,
    play_on,
    position,
)

STACKS = [
    (2, [[3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3]]),
    (3, [[3, 3, 2, 2], [3, 3, 2], [3, 3, 2]]),
    (4, [[2, 2, 2, 2], [2, 2, 2], [2, 2, 2]]),
]


@pytest.mark.rule(22, 23, 29)
@pytest.mark.parametrize(
    ("seats", "rounds"), [(2, (4, 4, 4)), (3, (4, 3, 3)), (4, (4, 3, 3))]
)
def test_each_player_has_one_turn_in_each_round(
    seats: int, rounds: tuple[int, int, int]
) -> None:
    torres = begun("yucata", seats)
    turns = []
    while not torres.over:
        if torres.decision == "turn":
            state: Any = torres.state()
            assert len(torres.scoring) == state["phase"] - 1
            place = (state["seat"] - state["first"]) % seats
            turns.append((state["phase"], state["round"], place))
        end_turn(torres)

    assert turns == [
        (phase, number, place)
        for phase, last in enumerate(rounds, 1)
        for number in range(1, last + 1)
        for place in range(seats)
    ]
    assert len(torres.scoring) == 3


@pytest.mark.rule(24, 62)
@pytest.mark.parametrize(("seats", "stacks"), STACKS)
def test_every_player_gets_the_stacks_of_the_phase(
    seats: int, stacks: list[list[int]]
) -> None:
    torres = begun("rio-grande-own-decks", seats)
    for sizes in stacks:
        if torres.decision == "king":
            torres.play("king stay")
        assert stacks_of(torres) == [sizes] * seats
        end_phase(torres)


@pytest.mark.rule(62)
def test_each_phase_has_its_own_stacks() -> None:
    stacks = [[3], [2, 1], [4, 1, 1]]
    torres = begun("rio-grande-own-decks", 2, stacks=stacks)
    for sizes in stacks:
        if torres.decision == "king":
            torres.play("king stay")
        assert stacks_of(torres) == [sizes] * 2
        end_phase(torres)


def stacks_of(torres: TorresGame) -> list[list[int]]:
    """Return the stacks by seat. The current one counts."""
    state: Any = torres.state()
    if state["current"] is not None:
        state["stacks"][state["seat"]].append(state["current"])
    return [sorted(sizes, reverse=True) for sizes in state["stacks"]]


def test_four_players_take_all_blocks_but_52() -> None:
    torres = begun("rio-grande-own-decks", 4)

    assert torres.state()["stacks"] == [[2] * 3, [2] * 4, [2] * 4, [2] * 4]
    assert torres.state()["supply"] == 84 - 4 * 8


@pytest.mark.rule(30)
@pytest.mark.parametrize(
    ("action", "cost"),
    [
        ("add b1", 2),
        ("move a1 b1", 1),
        ("block b1", 1),
        ("buy", 1),
        ("play diagonal a1 b2", 0),
        ("score", 1),
    ],
)
def test_every_action_has_its_price(action: str, cost: int) -> None:
    def turn(ap: int) -> Any:
        return position(
            "a1 a2",
            "a1",
            ap=ap,
            hands=[["diagonal"], []],
            decks=[["up2", "jump", "regroup"], []],
        )

    on = turn(5)
    on.apply(move_of(on, action))

    assert on.ap == 5 - cost
    assert allows(turn(cost), action)
    assert not cost or not allows(turn(cost - 1), action)


@pytest.mark.rule(30)
def test_points_that_are_left_are_lost() -> None:
    torres = begun("yucata", 2)
    seat = torres.seat
    for player in (seat, 1 - (seat or 0), seat):
        assert (torres.seat, torres.state()["ap"]) == (player, 5)
        torres.play("score")
        assert torres.state()["ap"] == 4
        end_turn(torres)


@pytest.mark.rule(60, 61)
@pytest.mark.parametrize("lowest", [0, 1, 2])
def test_the_lowest_scorer_moves_the_king_and_starts(lowest: int) -> None:
    torres = begun("rio-grande-own-decks", 3)
    while not torres.scoring:
        if torres.seat != lowest and torres.state()["ap"]:
            torres.play("score")
        else:
            end_turn(torres)

    assert (torres.decision, torres.seat) == ("king", lowest)
    torres.play("king stay")
    assert torres.state()["first"] == lowest
    assert (torres.decision, torres.seat) == ("turn", lowest)


@pytest.mark.rule(70)
def test_descending_order_goes_by_score() -> None:
    torres = game("torres-3d", 3)
    while torres.state()["round"] != 2:
        wanted = "score" if torres.seat == 2 else "end"
        options = [a for a in torres.legal() if a.startswith(wanted)]
        options = options or [a for a in torres.legal() if a.startswith("end")]
        torres.play((options or torres.legal())[0])

    assert torres.state()["order"] == [2, 0, 1]


@pytest.mark.rule(70)
def test_the_leader_starts_the_round() -> None:
    torres = game("devir-2017-master", 3)
    while torres.state()["round"] != 2:
        wanted = "score" if torres.seat == 1 else "end"
        options = [a for a in torres.legal() if a.startswith(wanted)]
        options = options or [a for a in torres.legal() if a.startswith("end")]
        torres.play((options or torres.legal())[0])

    assert torres.state()["order"] == [1, 2, 0]
    assert torres.state()["first"] == 1


@pytest.mark.rule(4, 60)
def test_the_king_goes_to_an_empty_space_with_a_block_or_stays() -> None:
    on = position("a1 b1=2 c3", "a1", decision="king", king="c3")

    assert legal(on, "king") == ["b1", "stay"]
    on.apply(move_of(on, "king b1") or 0)
    assert spaces_of(on.board.roofs()) == ["c3"]


@pytest.mark.rule(61)
@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_the_lowest_player_may_name_who_starts(chosen: int) -> None:
    torres = begun("devir-2017", 3)
    end_phase(torres)
    lowest = torres.seat
    torres.play("king stay")

    assert (torres.decision, torres.seat) == ("first", lowest)
    assert torres.legal() == ["first 0", "first 1", "first 2"]
    torres.play(f"first {chosen}")
    while torres.decision == "stock":
        end_turn(torres)
    assert (torres.decision, torres.seat) == ("turn", chosen)


@pytest.mark.rule(63)
@pytest.mark.parametrize("ruleset", ["yucata", "rio-grande-1999"])
def test_knights_cards_and_decks_stay_between_phases(ruleset: str) -> None:
    torres = begun(ruleset, 3)
    for _ in play_on(torres, Random(7), favour="buy"):
        if torres.decision == "king":
            break
    kept = ("knights", "reserve", "hands", "decks", "discards", "heights", "scores")
    before = torres.state()
    torres.play("king stay")
    after = torres.state()

    assert after["phase"] == 2
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert any(before["hands"])  # type: ignore[call-overload]


@pytest.mark.rule(64)
@pytest.mark.parametrize("seed", range(5))
def test_the_highest_score_wins_after_the_third_phase(seed: int) -> None:
    torres = begun("yucata", 4, str(seed))
    for _ in play_on(torres, Random(seed), favour="score"):
        pass
    result: Any = torres.result

    assert [record["phase"] for record in torres.scoring] == [1, 2, 3]
    by_score = sorted(range(4), key=lambda seat: -result["scores"][seat])
    assert [result["ranks"][seat] for seat in by_score] == [1, 2, 3, 4]
    assert result["scores"] == torres.scoring[-1]["scores"]


@pytest.mark.rule(70)
@pytest.mark.parametrize("ruleset", ["devir-2017-master", "torres-3d"])
def test_the_order_stays_while_all_scores_are_0(ruleset: str) -> None:
    firsts = set()
    for seed in range(10):
        torres = begun(ruleset, 3, str(seed), start_player="random")
        first = torres.setup.first
        firsts.add(first)
        while torres.state()["round"] == 1:
            end_turn(torres)
        assert torres.state()["order"] == [(first + turn) % 3 for turn in range(3)]

    assert firsts == {0, 1, 2}


@pytest.mark.rule(61, 71)
def test_in_the_master_version_the_lowest_moves_the_king_and_the_leader_starts() -> (
    None
):
    torres = begun("rio-grande-1999-master", 3)
    while not torres.scoring:
        if torres.seat == 1 and torres.state()["ap"]:
            torres.play("score")
        else:
            end_turn(torres)
    scores = torres.position.track.scores[:3]

    assert len(set(scores)) == 3
    assert scores[1] == max(scores)
    assert (torres.decision, scores[torres.seat or 0]) == ("king", min(scores))
    torres.play("king stay")
    assert (torres.decision, torres.seat) == ("turn", 1)


def test_a_game_goes_on_from_a_position_as_it_did() -> None:
    torres = game("torres-3d", 3, "from here")
    rng = Random(6)
    copies = []
    for number, _ in enumerate(play_on(torres, rng)):
        if number % 60 == 0:
            copy = TorresGame.from_position(torres.rules, torres.position)
            copies.append((torres.ply, copy))
    actions = [str(event["action"]) for event in torres.log if "action" in event]

    for ply, copy in copies:
        for action in actions[ply:]:
            copy.play(action)
        assert copy.result == torres.result
        assert copy.scoring == torres.scoring[len(torres.scoring) - len(copy.scoring) :]
    assert {len(copy.scoring) for _, copy in copies} == {1, 2, 3}
    over = TorresGame.from_position(torres.rules, torres.position)
    assert over.result == torres.result
