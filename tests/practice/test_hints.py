"""The hints of a game by hand: legal, different, and only from what the person sees."""

import pytest

from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import Setup, derive
from ladder.extras.practice import position, selectors
from ladder.extras.practice.hints import good_turns
from ladder.extras.practice.models import PracticeGame
from tests import factories as rows
from tests.engine.factories import RULESETS_AND_SEATS
from tests.practice import factories
from tests.practice.test_practice_pages import Visit, asked, begin, send


def before_a_turn(ruleset: str, seats: int, plies: int = 45) -> TorresGame:
    rules = resolve(ruleset, seats)
    game = TorresGame(rules, derive(rules, "hints"))
    for number in range(plies):
        legal = game.legal()
        game.play(legal[number * 7 % len(legal)])
    played = game.turn_id
    while game.decision != "turn" or game.turn_id == played:
        for action in game.automatic():
            game.play(action)
    return game


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_hints_are_legal_turns_and_differ(ruleset: str, seats: int) -> None:
    game = before_a_turn(ruleset, seats)

    hints = good_turns(game)

    assert hints
    assert hints == good_turns(game)
    for hint in hints:
        tried = position.attempt(game, hint.actions)
        before, after = (one.state()["scores"] for one in (game, tried.game))
        assert hint.gain.now == after[game.seat] - before[game.seat]
    assert len({tuple(sorted(hint.actions)) for hint in hints}) == len(hints)


def test_hints_do_not_depend_on_hidden_cards() -> None:
    rules = resolve("yucata", 2)
    dealt = derive(rules, "hints")
    turned = Setup(dealt.first, tuple(deck[::-1] for deck in dealt.decks), dealt.master)
    games = [TorresGame(rules, setup) for setup in (dealt, turned)]
    for game in games:
        while game.decision != "turn":
            game.play(game.legal()[0])

    first, second = (good_turns(game) for game in games)

    assert games[0].state() != games[1].state()
    assert first == second


def test_there_are_none_in_the_set_up() -> None:
    rules = resolve("yucata", 2)
    assert good_turns(TorresGame(rules, derive(rules, "hints"))) == []


@pytest.mark.django_db(transaction=True)
def test_the_page_asks_for_hints_and_sends_one(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    game = PracticeGame.objects.get()
    with factories.hosting():
        factories.answer(game, answers=0)
        while "score" not in selectors.question(factories.fresh(game)).legal():
            factories.answer(game, answers=1)
        ply = factories.until(lambda: asked(ana, address))["question"]["ply"]

        turns = send(ana, f"{address}hints/", ply, []).json()["turns"]
        actions = turns[0]["actions"]
        assert send(ana, f"{address}preview/", ply, actions).status_code == 200
        assert send(ana, f"{address}hints/", ply, ["end"]).json() == {"turns": []}
        assert send(ana, f"{address}hints/", ply + 1, []).status_code == 409
