"""The analysis of games: playouts, turning points, what if."""

import json
from functools import partial
from random import Random
from statistics import median
from typing import Any

import pytest

from engine import TorresGame, derive, resolve
from engine.analysis import PROMISE, WIDTH, Policy, play_on, reshuffled
from engine.errors import EngineError
from engine.moves import BUY, DECK_SIZE, OVER
from engine.replay import document
from engine.replay_format import InvalidReplay
from engine.rulesets import PRESETS
from engine.strategy import RoundSearches
from engine.turning_points import (
    MAX_LISTED,
    Swing,
    WhatIf,
    analyse,
    game_at,
    turning_points,
    what_if,
)
from tests.engine.factories import random_replay

GAMES = 2


def in_phase_3(seats: int = 2) -> TorresGame:
    """Return a random game at the first turn of phase 3."""
    rules = resolve("yucata", seats)
    game = TorresGame(rules, derive(rules, "late"))
    rng = Random(1)
    while game.position.phase < 3 or game.decision != "turn":
        game.play(rng.choice(game.legal()))
    return game


@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 4])
def test_the_policy_plays_every_ruleset_to_its_end(ruleset: str, seats: int) -> None:
    rules = resolve(ruleset, seats)
    game = TorresGame(rules, derive(rules, "any"))

    over = Policy(rules).play_to_end(game.position.copy(), 0, Random(1))

    assert over.decision == OVER
    assert min(list(over.track.scores)[:seats]) > 0


def test_the_policy_is_much_stronger_than_random_players() -> None:
    game = in_phase_3()
    policy = Policy(game.rules)
    strong = RoundSearches(game.rules, PROMISE)
    rng = Random(2)
    leads = []
    for _ in range(8):
        position = game.position.copy()
        while position.decision != OVER:
            if position.seat == 0:
                position.perform(rng.choice(position.legal()))
            else:
                position = play_on(position, strong, WIDTH, rng)
        scores = position.track.scores
        leads.append(scores[1] - scores[0])

    outlook = policy.outlook(lambda rng: reshuffled(game.position, rng), 8, "fair")
    assert sum(leads) / 8 > outlook.leads[1] + 20


def test_an_outlook_is_the_same_again_and_its_chances_add_up() -> None:
    game = in_phase_3(3)

    def outlook() -> Any:
        start = game.position
        return Policy(game.rules).outlook(lambda rng: reshuffled(start, rng), 4, "s")

    first = outlook()

    assert outlook() == first
    assert sum(first.chances) == pytest.approx(1)
    best = first.leads.index(max(first.leads))
    assert first.chances[best] == max(first.chances)
    assert max(first.lead_errors) > 0


def test_players_with_other_tastes_play_other_games() -> None:
    game = in_phase_3()
    policy = Policy(game.rules)

    ends = {
        tuple(policy.play_to_end(game.position.copy(), number, Random(1)).track.scores)
        for number in range(8)
    }

    assert len(ends) > 4


def test_the_error_of_a_change_is_that_of_pairs_of_games() -> None:
    game = in_phase_3()
    policy = Policy(game.rules)

    def outlook(games: int) -> Any:
        start = game.position
        return policy.outlook(lambda rng: reshuffled(start, rng), games, "s")

    before, again, more = outlook(8), outlook(8), outlook(16)

    assert again.change_error(before, 0) == 0 < before.chance_errors[0]
    assert more.change_error(before, 0) > before.chance_errors[0]  # not the same games


def test_a_seat_that_has_forfeited_wins_nothing_and_is_no_rival() -> None:
    game = in_phase_3(3)
    start = game.position
    policy = Policy(game.rules)

    outlook = policy.outlook(lambda rng: reshuffled(start, rng), 4, "s", (0,))

    assert outlook.chances[0] == 0
    assert outlook.leads[1] == pytest.approx(-outlook.leads[2])


def test_reshuffling_moves_only_cards_that_nobody_knows() -> None:
    game = in_phase_3()
    position = game.position
    seat = position.seat
    position.perform(BUY << 16)
    position.perform(position.legal()[0])  # puts the other cards back, known to it
    cards = position.cards
    first = seat * DECK_SIZE
    places = range(first, first + cards.left[seat])
    known = {i: cards.deck[i] for i in places if cards.knowers[i]}
    assert known
    before = list(cards.deck)

    worlds = [reshuffled(position, Random(n)).cards for n in range(20)]

    for world in worlds:
        assert sorted(world.deck) == sorted(before)
        assert all(world.deck[i] == card for i, card in known.items())
        assert list(world.hand) == list(cards.hand)
    assert len({tuple(world.deck) for world in worlds}) > 10
    assert list(cards.deck) == before


@pytest.mark.parametrize("seats", [2, 3])
def test_an_analysis_covers_all_turns_and_ends_with_the_result(seats: int) -> None:
    replay = random_replay("yucata", seats, "whole")

    analysis = analyse(replay, GAMES)

    turns = analysis["turns"]
    assert json.loads(json.dumps(analysis)) == analysis
    assert [turn["ply"] for turn in turns] == sorted({t["ply"] for t in turns})
    scores = replay["result"]["scores"]
    assert turns[-1]["seat"] is None
    assert turns[-1]["leads"][0] == scores[0] - max(scores[1:])
    assert len(analysis["swings"]) == len(turns) - 1
    for turn in turns[:-1]:
        position = game_at(replay, turn["ply"]).position
        assert (position.seat, position.phase) == (turn["seat"], turn["phase"])
        assert sum(turn["chances"]) == pytest.approx(1, abs=0.01)
    for swing in analysis["swings"]:
        assert -1 <= swing["chance"] <= 1
    assert analyse(replay, GAMES) == analysis


def test_more_games_are_the_games_that_follow() -> None:
    game = in_phase_3()
    policy = Policy(game.rules)
    start = partial(reshuffled, game.position)

    few = policy.outlook(start, 3, "more")
    both = few.with_more(policy.outlook(start, 2, "more", first=3))

    assert both == policy.outlook(start, 5, "more")
    assert both != policy.outlook(start, 5, "other")


@pytest.mark.parametrize("seed", ["a", "b"])
def test_the_worst_turn_is_known_better_than_others(seed: str) -> None:
    swings = analyse(random_replay("yucata", 2, seed), 8)["swings"]
    worst, *others = sorted(swings, key=lambda swing: swing["chance"])

    assert worst["chance"] < -0.3
    assert worst["error"] < 0.7 * median(swing["error"] for swing in others)


def swing(chance: float, error: float) -> Swing:
    return {"ply": 0, "end": 1, "seat": 0, "lead": 0, "chance": chance, "error": error}


def test_turning_points_are_large_and_clear() -> None:
    swings = [
        swing(0.30, 0.20),  # may be noise
        swing(-0.4, 0.05),
        swing(0.09, 0.0),  # is small
        swing(0.25, 0.05),
        *[swing(0.2, 0.01)] * 6,
    ]

    assert turning_points(swings) == [1, 3, 4, 5, 6]


def test_a_better_turn_is_legal_and_better_by_other_games() -> None:
    replay = random_replay("yucata", 2, "a")
    course = analyse(replay, 8)
    policy = Policy(resolve("yucata", 2))
    points = [course["swings"][index] for index in course["turning_points"]]
    losses = {swing["ply"]: swing for swing in points if swing["chance"] < 0}

    assert course["better"]
    for turn in course["better"]:
        swing = losses[turn["ply"]]
        game = game_at(replay, turn["ply"])
        seat = game.seat
        actions = played_from(replay, turn["ply"], swing["end"])
        assert turn["played"] == actions[: len(turn["played"])]
        assert turn["played"][-1].startswith("end")
        for action in turn["actions"]:
            game.play(action)
        if game.decision == "turn" and game.seat == seat:
            game.play(next(a for a in game.legal() if a.startswith("end")))
        other = policy.outlook(partial(reshuffled, game.position), 24, "other games")
        after = next(one for one in course["turns"] if one["ply"] == swing["end"])
        assert other.chances[seat] > after["chances"][seat]


def played_from(replay: dict[str, Any], ply: int, end: int) -> list[str]:
    actions = [action for move in replay["moves"] for action in move["actions"]]
    return actions[ply:end]


def test_an_unfinished_game_is_refused() -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "open"))
    players = [{"name": "one"}, {"name": "two"}]
    replay = document(game, seed="open", players=players, moves=[], forfeits=[])

    with pytest.raises(EngineError, match="not over"):
        analyse(json.loads(json.dumps(replay)), GAMES)


def test_a_wrong_replay_is_refused() -> None:
    with pytest.raises(InvalidReplay):
        analyse({"format": "torres-replay/1"}, GAMES)


def late_ply(replay: dict[str, Any]) -> int:
    """Return the ply of the first action of a turn in phase 3."""
    return next(t["ply"] for t in analyse(replay, 2)["turns"] if t["phase"] == 3)


def test_what_if_compares_all_legal_actions() -> None:
    replay = random_replay("yucata", 2, "what if")
    ply = late_ply(replay)
    game = game_at(replay, ply)
    actions = [action for move in replay["moves"] for action in move["actions"]]

    estimates: list[WhatIf] = []

    result = what_if(replay, ply, games=6, on_estimate=estimates.append)

    rough, better = estimates
    assert {entry["games"] for entry in rough["alternatives"]} == {2}
    assert {entry["games"] for entry in better["alternatives"]} == {4}
    assert result == what_if(replay, ply, games=6)
    listed = result["alternatives"]
    assert result["actions"] == len(game.legal())
    assert len(listed) == min(MAX_LISTED, result["actions"])
    assert {entry["action"] for entry in listed} <= set(game.legal())
    assert [e["action"] for e in listed if e["played"]] == [actions[ply]]
    deep = [entry["lead"] for entry in listed if entry["games"] == 6]
    assert deep == sorted(deep, reverse=True)
    assert len(deep) in (8, 9)


def test_what_if_goes_on_after_a_line() -> None:
    replay = random_replay("yucata", 2, "line")
    ply = late_ply(replay)
    best = what_if(replay, ply, games=2)["alternatives"]
    first = next(e["action"] for e in best if not e["action"].startswith("end"))

    after = what_if(replay, ply, [first], games=2)

    game = game_at(replay, ply)
    game.play(first)
    assert after["seat"] == game.position.seat
    assert after["line"] == [first]
    assert not any(entry["played"] for entry in after["alternatives"])


@pytest.mark.parametrize(
    ("ply", "line", "why"),
    [
        (100_000, [], "there is no ply 100000"),
        (5, ["fly a1"], "action 1 of the line"),
        (5, ["end"] * 65, "the limit is 64"),
    ],
)
def test_a_position_that_does_not_exist_is_refused(
    ply: int, line: list[str], why: str
) -> None:
    with pytest.raises(EngineError, match=why):
        what_if(random_replay("yucata", 2, "what if"), ply, line, GAMES)
