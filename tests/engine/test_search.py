"""Positions for search: copies, undo, guesses, positions from views."""

from random import Random

import pytest

from engine.moves import OVER
from engine.rulesets import resolve
from engine.search import determinize, position_of
from engine.view import fresh, state
from tests.engine.factories import (
    RULESETS_AND_SEATS,
    blank,
    game,
    legal,
    play_on,
    position,
)


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_full_state_gives_exactly_its_position(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "states")
    for number, _ in enumerate(play_on(torres, Random(seats))):
        if torres.over or number % 3:
            continue
        assert torres.decision is not None
        again = position_of(torres.rules, torres.decision, torres.state())
        assert again.legal() == torres.position.legal()
        assert state(again, torres.rules, [], None, over=False) == torres.state()


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_view_gives_a_position_that_agrees_with_it(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "views")
    rng = Random(7)
    for number, _ in enumerate(play_on(torres, Random(seats))):
        if torres.over or number % 3:
            continue
        assert torres.decision is not None
        view = torres.state(torres.seat)
        guess = position_of(torres.rules, torres.decision, view, rng=rng)
        assert state(guess, torres.rules, [], torres.seat, over=False) == view


@pytest.mark.parametrize("ruleset", ["yucata", "rio-grande-1999"])
def test_a_position_from_a_view_does_not_allow_playing_a_fresh_card(
    ruleset: str,
) -> None:
    torres = game(ruleset, 2, "fresh")
    rng = Random(4)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    seat = torres.seat
    torres.play("buy")
    if torres.decision == "keep":
        torres.play(torres.legal()[0])
    assert seat is not None
    view = torres.state(seat)
    guess = position_of(torres.rules, "turn", view, rng=rng)

    assert view["fresh"] == view["hand"] != []
    assert legal(guess, "play") == []
    assert torres.state(1 - seat)["fresh"] == []


def test_a_state_without_fresh_cards_takes_them_from_the_caller() -> None:
    state = blank(hands=[["ap6", "ap7"], []], decks=[[], []], bought=1)
    del state["fresh"]
    rules = resolve("yucata", 2)

    assert legal(position_of(rules, "turn", state), "play") == ["ap6", "ap7"]
    informed = position_of(rules, "turn", state, bought=["ap7"])
    assert legal(informed, "play") == ["ap6"]


def test_a_guess_hides_which_cards_another_seat_bought() -> None:
    on = position(
        "a1",
        ruleset="yucata",
        hands=[["ap6", "ap7", "jump"], []],
        fresh=["jump"],
        decks=[["up2", "regroup"], []],
        bought=1,
    )
    rng = Random(2)
    guesses = [determinize(on, 1, rng) for _ in range(20)]

    assert {len(fresh(guess)) for guess in guesses} == {1}
    assert len({fresh(guess)[0] for guess in guesses}) > 1
    for guess in guesses:
        assert f"play {fresh(guess)[0]}" not in legal(guess)


def test_a_view_without_a_generator_is_refused() -> None:
    torres = game()
    with pytest.raises(ValueError, match="pass rng"):
        position_of(torres.rules, "enter", torres.state(0))


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_guess_agrees_with_the_view_and_can_be_played_out(
    ruleset: str, seats: int
) -> None:
    torres = game(ruleset, seats, "guesses")
    rng = Random(3)
    for number, _ in enumerate(play_on(torres, Random(seats), favour="buy")):
        if torres.over or number % 40:
            continue
        for seat in range(seats):
            guess = determinize(torres.position, seat, rng)
            view = state(guess, torres.rules, [], seat, over=False)
            assert view == torres.state(seat)
            assert guess.playout(number + 1) > 0
            assert guess.decision == OVER


def test_a_guess_keeps_the_cards_that_the_seat_put_back() -> None:
    torres = game("devir-2017", 2, "memory")
    rng = Random(5)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    seat = torres.seat
    torres.play("buy")
    drawn = torres.state(seat)["drawn"]
    assert isinstance(drawn, list)
    torres.play(f"keep {drawn[1]} top")

    for _ in range(20):
        guess = determinize(torres.position, seat or 0, rng)
        decks = state(guess, torres.rules, [], None, over=False)["decks"]
        assert decks[seat or 0][:2] == [drawn[0], drawn[2]]  # type: ignore[index]


def test_guesses_differ() -> None:
    torres = game("yucata", 2, "many")
    rng = Random(5)
    guesses = [determinize(torres.position, 0, rng) for _ in range(10)]
    decks = [state(g, torres.rules, [], None, over=False)["decks"] for g in guesses]

    assert len(set(map(str, decks))) == 10


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_undo_restores_everything(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "undo")
    position = torres.position
    rules = torres.rules
    position.remember = True
    rng = Random(seats)
    history = []
    while moves := position.legal():
        before = (
            state(position, rules, [], None, over=False) if len(history) % 5 else {}
        )
        history.append((moves, before))
        position.apply(rng.choice(moves))
    for moves, before in reversed(history):
        position.undo()
        assert position.legal() == moves
        if before:
            assert state(position, rules, [], None, over=False) == before


def test_a_seat_with_a_choice_of_stacks_has_to_decide() -> None:
    on = position(
        "a1",
        ruleset="devir-2017",
        decision="stock",
        carried=[1, 0],
        stacks=[[2, 1], [2, 2]],
    )

    assert on.waiting == 1
    assert legal(on) == ["stock 2,2", "stock 3,1"]


def test_a_finished_game_gives_a_position_without_a_legal_move() -> None:
    torres = game("yucata", 2, "over")
    for _ in play_on(torres, Random(1)):
        pass
    again = position_of(torres.rules, "over", torres.state())

    assert again.legal() == []
    assert again.track.scored == 3
    with pytest.raises(ValueError, match="nonsense"):
        position_of(torres.rules, "nonsense", torres.state())


def test_a_space_may_belong_to_no_castle() -> None:
    board = position("a1 h8").board

    assert [board.castle_at(space) for space in (0, 1, 63)] == [0, -1, 1]
