"""Torres as a game of OpenSpiel: OpenSpiel's own tests, and what seats may know."""

import copy
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from absl import logging as absl_logging
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.observation import make_observation

from engine import derive, kernel, resolve
from engine.evaluation import key_of
from engine.observation import OBSERVATION_SIZE
from engine.rulesets import CARDS, MASTERS, PRESETS
from engine.search import ranks_of
from torres.learning import openspiel  # noqa: F401 - registers the game

# OpenSpiel imports absl, whose handler closes its stream when logging is configured
# again. At its import this is the stream with which pytest captures output.
absl_logging.get_absl_handler().python_handler.setStream(sys.__stderr__)

USUAL = {("yucata", 2), ("torres-3d", 3), ("devir-2017-shared-deck", 4)}
TABLES = [
    pytest.param(
        ruleset,
        seats,
        marks=[] if (ruleset, seats) in USUAL else [pytest.mark.deep],
    )
    for ruleset in PRESETS
    for seats in (2, 3, 4)
]


def load(ruleset: str, seats: int) -> Any:
    return pyspiel.load_game("python_torres", {"ruleset": ruleset, "players": seats})


def play(
    state: Any, rng: Random, watch: Callable[[Any], None] = lambda state: None
) -> Any:
    """Play to the end at random, and call `watch` before each action of a seat."""
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(rng.choice([o for o, _ in state.chance_outcomes()]))
            continue
        watch(state)
        legal = state.legal_actions()
        # Random games hardly ever buy: what is hidden comes from purchases.
        buys = [a for a in legal if state.action_to_string(a) == "buy"]
        state.apply_action(rng.choice(buys if buys and rng.random() < 0.5 else legal))
    return state


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_simulation_tests_of_openspiel_pass(ruleset: str, seats: int) -> None:
    # It imports all games of OpenSpiel and SciPy, which takes seconds.
    from open_spiel.python.tests import games_sim_test  # noqa: PLC0415

    game = load(ruleset, seats)

    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    games_sim_test.GamesSimTest().sim_game(game)


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_game_is_that_of_the_engine(ruleset: str, seats: int) -> None:
    rules = resolve(ruleset, seats)
    setup = derive(rules, "deal")
    first = [setup.first] if rules.start_player == "random" else []
    cards = [CARDS.index(card) for deck in setup.decks for card in deck]
    master = [MASTERS.index(setup.master)] if setup.master else []
    state = load(ruleset, seats).new_initial_state()
    for outcome in [*first, *cards, *master]:
        assert state.is_chance_node()
        chances = dict(state.chance_outcomes())
        assert sum(chances.values()) == pytest.approx(1)
        assert chances[outcome] > 0
        state.apply_action(outcome)

    assert not state.is_chance_node()
    position = kernel.start(rules, setup)
    assert key_of(state.table.position) == key_of(position)
    play(state, Random(seats))
    ranks = ranks_of(state.table.position)
    returns = state.returns()
    assert sum(returns) == pytest.approx(0)
    assert sorted(range(seats), key=lambda s: ranks[s]) == sorted(
        range(seats), key=lambda s: -returns[s]
    )


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_what_a_seat_knows_fits_every_deal_that_it_cannot_tell_apart(
    ruleset: str, seats: int
) -> None:
    rng = Random(7)
    other_hands = []

    def watch(state: Any) -> None:
        if rng.random() > 0.1:
            return
        for seat in range(seats):
            guess = state.resample_from_infostate(seat, rng.random)
            for one in (
                "information_state_string",
                "information_state_tensor",
                "observation_string",
                "observation_tensor",
            ):
                assert getattr(guess, one)(seat) == getattr(state, one)(seat)
            assert guess.current_player() == state.current_player()
            if state.current_player() == seat:
                assert guess.legal_actions() == state.legal_actions()
            cards = [list(s.table.position.cards.hand) for s in (state, guess)]
            other_hands.append(cards[0] != cards[1])
            play(guess, Random(1))

    play(load(ruleset, seats).new_initial_state(), rng, watch)
    assert other_hands
    # Nothing is hidden if all hold all cards.
    assert any(other_hands) == bool(resolve(ruleset, seats).deck_count)


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_seat_never_forgets(ruleset: str, seats: int) -> None:
    known = ["seat"] * seats
    tensors: list[tuple[Any, str]] = []

    def watch(state: Any) -> None:
        for seat in range(seats):
            text = state.information_state_string(seat)
            assert text.startswith(known[seat])
            known[seat] = text
        seat = state.current_player()
        tensor = tuple(state.information_state_tensor(seat))
        tensors.append((tensor, state.information_state_string(seat)))

    play(load(ruleset, seats).new_initial_state(), Random(3), watch)

    assert len({tensor for tensor, _ in tensors}) == len({text for _, text in tensors})


def test_a_seat_sees_its_own_purchases_and_no_others() -> None:
    state = play(load("yucata", 2).new_initial_state(), Random(5))
    played = state.table.texts
    keeps = [text for text in played if text.startswith("keep")]
    own, rival = (state.information_state_string(seat) for seat in (0, 1))

    assert len(keeps) > 3
    for text in keeps:
        seen = [f" {text}" in known for known in (own, rival)]
        assert any(seen)
    assert own.count("keep ?") + rival.count("keep ?") == len(keeps)


def test_the_pieces_of_the_tensors_are_named() -> None:
    game = load("yucata", 2)
    state = play(game.new_initial_state(), Random(5))
    kind = pyspiel.IIGObservationType
    private = pyspiel.PrivateInfoType

    public = make_observation(
        game, kind(perfect_recall=False, private_info=private.NONE)
    )
    public.set_from(state, 0)
    assert not public.dict["hand"].any()
    assert len(public.tensor) == OBSERVATION_SIZE
    recalled = make_observation(game, kind(perfect_recall=True))
    recalled.set_from(state, 0)
    actions = len(state.table.texts)
    assert recalled.dict["actions"][:actions].all()
    assert not recalled.dict["actions"][actions:].any()
    assert recalled.dict["purchases"].any()
    with pytest.raises(Exception, match="no parameters"):
        make_observation(game, params={"x": 1})


def test_copies_are_independent() -> None:
    state = load("yucata", 2).new_initial_state()
    rng = Random(1)
    while state.is_chance_node():
        state.apply_action(rng.choice([o for o, _ in state.chance_outcomes()]))
    before = str(state)
    table = copy.deepcopy(state.table)
    play(state.clone(), rng)

    assert str(state) == before
    assert key_of(table.position) == key_of(state.table.position)
    assert table.position is not state.table.position


def test_information_set_search_of_openspiel_plays_a_legal_action() -> None:
    game = load("yucata", 2)
    state = game.new_initial_state()
    rng = Random(1)
    for _ in range(60):
        legal = (
            [o for o, _ in state.chance_outcomes()] if state.is_chance_node() else None
        )
        state.apply_action(rng.choice(legal or state.legal_actions()))
    assert not state.is_chance_node()
    bot = ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)),
        uct_c=2.0,
        max_simulations=10,
        random_state=np.random.RandomState(1),
    )

    assert bot.step(state) in state.legal_actions()


@pytest.mark.parametrize(
    "parameters", [{"players": 5}, {"players": 1}, {"ruleset": "chess"}, {"x": 1}]
)
def test_wrong_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(Exception, match=r"seats|unknown|Unknown"):
        pyspiel.load_game("python_torres", parameters)
