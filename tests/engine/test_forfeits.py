"""Forfeits, prescribed answers and ranks (docs/contract.md, section 6)."""

from random import Random

import pytest

from engine.errors import EngineError, IllegalAction
from engine.faults import Fault
from engine.game import seen_by
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on


def test_the_last_seat_standing_wins_at_once() -> None:
    torres = game("yucata", 3)
    torres.forfeit(2, Fault.CRASH)
    torres.forfeit(0, Fault.TIMEOUT)

    assert torres.over
    assert torres.result == {
        "scores": [0, 0, 0],
        "ranks": [2, 1, 3],
        "reason": "last_standing",
    }
    assert (torres.seat, torres.decision, torres.legal()) == (None, None, [])
    assert torres.scoring == []


def test_forfeited_seats_rank_behind_and_the_later_better() -> None:
    torres = game("yucata", 4)
    torres.forfeit(3, Fault.CRASH)
    torres.forfeit(1, Fault.CRASH)
    for _ in play_on(torres, Random(4), favour="score"):
        pass

    assert torres.result is not None
    ranks = torres.result["ranks"]
    assert isinstance(ranks, list)
    assert (ranks[1], ranks[3]) == (3, 4)
    assert {ranks[0], ranks[2]} == {1, 2}


def test_only_a_standing_seat_can_forfeit_and_only_before_the_end() -> None:
    torres = game("yucata", 3)
    torres.forfeit(1, Fault.MEMORY)
    for seat in (1, 3, -1):
        with pytest.raises(EngineError):
            torres.forfeit(seat, Fault.MEMORY)
    torres.forfeit(0, Fault.MEMORY)
    with pytest.raises(EngineError, match="over"):
        torres.forfeit(2, Fault.MEMORY)
    with pytest.raises(IllegalAction, match="rule 64"):
        torres.play("enter a4")


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_prescribed_answers_lead_to_the_end(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "forfeit")
    rng = Random(seats)
    answers = 0
    while not torres.over:
        if answers == 40:
            torres.forfeit(torres.seat or 0, Fault.TIMEOUT)
            if torres.over:
                break
        if torres.seat in torres.forfeited:
            answer = torres.automatic()
            for action in answer:
                torres.play(action, auto=True)
            assert torres.log[-1].get("auto") or "scoring" in torres.log[-1]
        else:
            torres.play(rng.choice(torres.legal()))
        answers += 1

    assert torres.result is not None
    assert torres.result["reason"] == ("last_standing" if seats == 2 else "completed")


def test_a_forfeited_seat_keeps_the_first_card_then_ends() -> None:
    torres = game("devir-2017", 3)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    torres.play("buy")
    seat = torres.seat or 0
    torres.forfeit(seat, Fault.CRASH)

    assert torres.automatic() == [torres.legal()[0]]
    torres.play(torres.automatic()[0], auto=True)
    assert torres.automatic() == ["stack 2", "end"]


def test_a_stack_is_taken_before_the_prescribed_end() -> None:
    torres = game("devir-2017", 3)
    while torres.decision != "turn" or torres.position.stock.current >= 0:
        torres.play(torres.legal()[0])

    assert torres.automatic()[0] == "stack 2"
    assert torres.automatic()[1].startswith("end")


def test_the_king_stays() -> None:
    torres = game("yucata", 3, "king")
    for _ in play_on(torres, Random(1)):
        if torres.decision == "king" and torres.scoring:
            break

    assert torres.automatic() == ["king stay"]


def test_the_card_that_another_seat_keeps_is_hidden() -> None:
    event: dict[str, object] = {"seat": 1, "action": "keep jump top"}

    assert seen_by(event, 1) == event
    assert seen_by(event, 0) == {"seat": 1, "action": "keep ? top"}
    assert seen_by({"seat": 1, "action": "end"}, 0) == {"seat": 1, "action": "end"}
    assert seen_by({"scoring": {}}, 0) == {"scoring": {}}


def test_each_turn_has_its_own_id() -> None:
    torres = game("devir-2017", 2)
    turns = [torres.turn_id]
    while len(turns) < 6:
        before = torres.decision
        torres.play("buy" if "buy" in torres.legal() else torres.legal()[0])
        if before == "keep" or torres.decision == "keep":
            assert torres.turn_id == turns[-1]
        elif torres.turn_id != turns[-1]:
            turns.append(torres.turn_id)

    assert turns == sorted(set(turns))


def test_a_copy_is_independent() -> None:
    torres = game("yucata", 2)
    other = torres.copy()
    other.play(other.legal()[0])

    assert (torres.ply, other.ply) == (0, 1)
    assert torres.state() != other.state()
    assert torres.log == []
