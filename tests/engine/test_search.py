"""The search interface: copies, undoing, guesses, positions from views."""

from random import Random

import pytest

from engine.moves import OVER
from engine.rulesets import resolve
from engine.search import determinize, position_of
from engine.view import fresh, state
from tests.engine.factories import TABLES, blank, game, legal, play_on, position


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_full_state_gives_the_very_position_back(ruleset: str, seats: int) -> None:
    played = game(ruleset, seats, "states")
    for number, _ in enumerate(play_on(played, Random(seats))):
        if played.over or number % 3:
            continue
        assert played.decision is not None
        again = position_of(played.rules, played.decision, played.state())
        assert again.legal() == played.position.legal()
        shown = state(again, played.rules, [], None, over=False)
        assert shown == played.state()


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_view_gives_a_position_that_agrees_with_it(ruleset: str, seats: int) -> None:
    played = game(ruleset, seats, "views")
    rng = Random(7)
    for number, _ in enumerate(play_on(played, Random(seats))):
        if played.over or number % 3:
            continue
        assert played.decision is not None
        view = played.state(played.seat)
        guess = position_of(played.rules, played.decision, view, rng=rng)
        assert state(guess, played.rules, [], played.seat, over=False) == view


@pytest.mark.parametrize("ruleset", ["yucata", "rio-grande-1999"])
def test_a_position_from_a_view_does_not_allow_playing_a_fresh_card(
    ruleset: str,
) -> None:
    played = game(ruleset, 2, "fresh")
    rng = Random(4)
    while played.decision != "turn":
        played.play(played.legal()[0])
    seat = played.seat
    played.play("buy")
    if played.decision == "keep":
        played.play(played.legal()[0])
    assert seat is not None
    view = played.state(seat)
    guess = position_of(played.rules, "turn", view, rng=rng)

    assert view["fresh"] == view["hand"] != []
    assert legal(guess, "play") == []
    assert played.state(1 - seat)["fresh"] == []


def test_a_state_without_fresh_cards_takes_them_from_the_caller() -> None:
    state = blank(hands=[["ap6", "ap7"], []], decks=[[], []], bought=1)
    del state["fresh"]
    rules = resolve("yucata", 2)

    assert legal(position_of(rules, "turn", state), "play") == ["ap6", "ap7"]
    told = position_of(rules, "turn", state, bought=["ap7"])
    assert legal(told, "play") == ["ap6"]


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
    played = game()
    with pytest.raises(ValueError, match="pass rng"):
        position_of(played.rules, "enter", played.state(0))


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_guess_agrees_with_the_view_and_can_be_played_out(
    ruleset: str, seats: int
) -> None:
    played = game(ruleset, seats, "guesses")
    rng = Random(3)
    for number, _ in enumerate(play_on(played, Random(seats), favour="buy")):
        if played.over or number % 40:
            continue
        for seat in range(seats):
            guess = determinize(played.position, seat, rng)
            view = state(guess, played.rules, [], seat, over=False)
            assert view == played.state(seat)
            assert guess.playout(number + 1) > 0
            assert guess.decision == OVER


def test_a_guess_keeps_what_the_seat_put_back() -> None:
    played = game("devir-2017", 2, "memory")
    rng = Random(5)
    while played.decision != "turn":
        played.play(played.legal()[0])
    seat = played.seat
    played.play("buy")
    drawn = played.state(seat)["drawn"]
    assert isinstance(drawn, list)
    played.play(f"keep {drawn[1]} top")

    for _ in range(20):
        guess = determinize(played.position, seat or 0, rng)
        decks = state(guess, played.rules, [], None, over=False)["decks"]
        assert decks[seat or 0][:2] == [drawn[0], drawn[2]]  # type: ignore[index]


def test_guesses_differ() -> None:
    played = game("yucata", 2, "many")
    rng = Random(5)
    guesses = [determinize(played.position, 0, rng) for _ in range(10)]
    seen = [state(g, played.rules, [], None, over=False)["decks"] for g in guesses]

    assert len(set(map(str, seen))) == 10


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_undo_restores_everything(ruleset: str, seats: int) -> None:
    played = game(ruleset, seats, "undo")
    position, rules = played.position, played.rules
    position.remember = True
    rng = Random(seats)
    seen = []
    while moves := position.legal():
        before = state(position, rules, [], None, over=False) if len(seen) % 5 else {}
        seen.append((moves, before))
        position.apply(rng.choice(moves))
    for moves, before in reversed(seen):
        position.undo()
        assert position.legal() == moves
        if before:
            assert state(position, rules, [], None, over=False) == before


def test_a_seat_with_a_choice_of_stacks_is_waited_for() -> None:
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
    played = game("yucata", 2, "over")
    for _ in play_on(played, Random(1)):
        pass
    again = position_of(played.rules, "over", played.state())

    assert again.legal() == []
    assert again.track.scored == 3
    with pytest.raises(ValueError, match="nonsense"):
        position_of(played.rules, "nonsense", played.state())


def test_a_space_may_belong_to_no_castle() -> None:
    board = position("a1 h8").board

    assert [board.castle_at(space) for space in (0, 1, 63)] == [0, -1, 1]
