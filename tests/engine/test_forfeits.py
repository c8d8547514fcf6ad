"""Contract, section 6: forfeits, prescribed answers, ranks; events and views."""

from random import Random

import pytest

from engine.errors import EngineError, IllegalAction
from engine.faults import Fault
from engine.game import seen_by
from tests.engine.factories import TABLES, game, play_on


def test_the_last_seat_standing_wins_at_once() -> None:
    played = game("yucata", 3)
    played.forfeit(2, Fault.CRASH)
    played.forfeit(0, Fault.TIMEOUT)

    assert played.over
    assert played.result == {
        "scores": [0, 0, 0],
        "ranks": [2, 1, 3],
        "reason": "last_standing",
    }
    assert (played.seat, played.decision, played.legal()) == (None, None, [])
    assert played.scoring == []


def test_forfeited_seats_rank_behind_and_the_later_better() -> None:
    played = game("yucata", 4)
    played.forfeit(3, Fault.CRASH)
    played.forfeit(1, Fault.CRASH)
    for _ in play_on(played, Random(4), favour="score"):
        pass

    assert played.result is not None
    ranks = played.result["ranks"]
    assert isinstance(ranks, list)
    assert (ranks[1], ranks[3]) == (3, 4)
    assert {ranks[0], ranks[2]} == {1, 2}


def test_only_a_standing_seat_can_forfeit_and_only_before_the_end() -> None:
    played = game("yucata", 3)
    played.forfeit(1, Fault.MEMORY)
    for seat in (1, 3, -1):
        with pytest.raises(EngineError):
            played.forfeit(seat, Fault.MEMORY)
    played.forfeit(0, Fault.MEMORY)
    with pytest.raises(EngineError, match="over"):
        played.forfeit(2, Fault.MEMORY)
    with pytest.raises(IllegalAction, match="rule 64"):
        played.play("enter a4")


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_prescribed_answers_lead_to_the_end(ruleset: str, seats: int) -> None:
    played = game(ruleset, seats, "forfeit")
    rng = Random(seats)
    moved = 0
    while not played.over:
        if moved == 40:
            played.forfeit(played.seat or 0, Fault.TIMEOUT)
            if played.over:
                break
        if played.seat in played.forfeited:
            answer = played.automatic()
            for action in answer:
                played.play(action, auto=True)
            assert played.log[-1].get("auto") or "scoring" in played.log[-1]
        else:
            played.play(rng.choice(played.legal()))
        moved += 1

    assert played.result is not None
    assert played.result["reason"] == ("last_standing" if seats == 2 else "completed")


def test_a_forfeited_seat_keeps_the_first_card_then_ends() -> None:
    played = game("devir-2017", 3)
    while played.decision != "turn":
        played.play(played.legal()[0])
    played.play("buy")
    seat = played.seat or 0
    played.forfeit(seat, Fault.CRASH)

    assert played.automatic() == [played.legal()[0]]
    played.play(played.automatic()[0], auto=True)
    assert played.automatic() == ["stack 2", "end"]


def test_a_stack_is_taken_before_the_prescribed_end() -> None:
    played = game("devir-2017", 3)
    while played.decision != "turn" or played.position.stock.current >= 0:
        played.play(played.legal()[0])

    assert played.automatic()[0] == "stack 2"
    assert played.automatic()[1].startswith("end")


def test_the_king_stays() -> None:
    played = game("yucata", 3, "king")
    for _ in play_on(played, Random(1)):
        if played.decision == "king" and played.scoring:
            break

    assert played.automatic() == ["king stay"]


def test_what_another_keeps_is_hidden() -> None:
    event: dict[str, object] = {"seat": 1, "action": "keep jump top"}

    assert seen_by(event, 1) == event
    assert seen_by(event, 0) == {"seat": 1, "action": "keep ? top"}
    assert seen_by({"seat": 1, "action": "end"}, 0) == {"seat": 1, "action": "end"}
    assert seen_by({"scoring": {}}, 0) == {"scoring": {}}


def test_turns_are_told_apart() -> None:
    played = game("devir-2017", 2)
    seen = [played.turn_id]
    while len(seen) < 6:
        before = played.decision
        played.play("buy" if "buy" in played.legal() else played.legal()[0])
        if before == "keep" or played.decision == "keep":
            assert played.turn_id == seen[-1]
        elif played.turn_id != seen[-1]:
            seen.append(played.turn_id)

    assert seen == sorted(set(seen))


def test_a_copy_goes_its_own_way() -> None:
    played = game("yucata", 2)
    other = played.copy()
    other.play(other.legal()[0])

    assert (played.ply, other.ply) == (0, 1)
    assert played.state() != other.state()
    assert played.log == []
