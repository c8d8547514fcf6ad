"""The search interface: copies, undoing, guesses, positions from views."""

from random import Random

import pytest

from engine.moves import DECISIONS
from engine.search import determinize, position_of
from engine.view import state
from tests.engine.factories import TABLES, game, legal, play_on, position


def bought_of(log: list[dict[str, object]]) -> list[str]:
    """The cards bought in the turn that is going on (draw three, keep one)."""
    cards: list[str] = []
    for event in reversed(log):
        word, _, rest = str(event.get("action", "")).partition(" ")
        if word in ("end", "king", "first", "stock"):
            break
        if word == "keep":
            cards.append(rest.split()[0])
    return cards


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_full_state_gives_the_very_position_back(ruleset: str, seats: int) -> None:
    played = game(ruleset, seats, "states")
    if played.rules.buy_draw == 1 and played.rules.max_buys:
        pytest.skip("the log does not tell which card was bought")
    for number, _ in enumerate(play_on(played, Random(seats))):
        if played.over or number % 3:
            continue
        assert played.decision is not None
        again = position_of(
            played.rules,
            played.decision,
            played.state(),
            bought=bought_of(played.log),
        )
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


def test_a_view_without_a_generator_is_refused() -> None:
    played = game()
    with pytest.raises(ValueError, match="rng must deal"):
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
            assert guess.decision == DECISIONS.index("over")


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


def test_a_space_may_belong_to_no_castle() -> None:
    board = position("a1 h8").board

    assert [board.castle_at(space) for space in (0, 1, 63)] == [0, -1, 1]
