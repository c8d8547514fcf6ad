"""Random games of every ruleset and number of seats: none fails.

Together they contain every card, every kind of action and every switch.
"""

import os
from collections import Counter
from random import Random

import pytest

from engine.editions import PRESETS
from engine.game import TorresGame
from engine.replay import document, verify
from engine.rulesets import CARDS, MASTERS, SWITCHES, resolve
from engine.setup import derive
from tests.engine.factories import RULESETS_AND_SEATS

GAMES = int(os.environ.get("TESTS_GAMES", "200"))
WORDS = [
    "add",
    "block",
    "buy",
    "end",
    "enter",
    "first",
    "found",
    "keep",
    "king",
    "move",
    "score",
    "stack",
]
counts: Counter[str] = Counter()


def play(ruleset: str, seats: int, number: int) -> None:
    rules = resolve(ruleset, seats)
    torres = TorresGame(rules, derive(rules, f"{ruleset} {seats} {number}"))
    rng = Random(number)
    moves: list[dict[str, object]] = []
    while not torres.over:
        legal = torres.legal()
        cards = [action for action in legal if action.startswith("play")]
        action = rng.choice(cards if cards and rng.random() < 0.2 else legal)
        moves.append({"seat": torres.seat, "actions": [action]})
        torres.play(action)
        word, _, rest = action.partition(" ")
        counts[f"play {rest.split()[0]}" if word == "play" else word] += 1
        if word == "end" and rest:
            counts["end with sizes"] += 1
    if torres.setup.master is not None:
        points = [p for s in torres.scoring for p in s["master"]]  # type: ignore[attr-defined]
        counts[f"dealt {torres.setup.master}"] += 1
        counts[f"scored {torres.setup.master}"] += any(points)
    for switch, value in rules.switches().items():
        counts[f"{switch}={value}"] += 1
    players = [{"name": "x"}] * seats
    verify(document(torres, seed="", players=players, moves=moves, forfeits=[]))


@pytest.mark.deep
@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_random_games_end_and_verify(ruleset: str, seats: int) -> None:
    for number in range(GAMES):
        play(ruleset, seats, number)


def test_random_games_contain_everything() -> None:
    counts.clear()  # other tests in this process may have counted games
    for ruleset, seats in RULESETS_AND_SEATS:
        for number in range(12):
            play(ruleset, seats, number)
    wanted = [*WORDS, "end with sizes", *(f"play {card}" for card in CARDS)]
    wanted += [f"dealt {master}" for master in MASTERS]
    wanted += [f"scored {master}" for master in ("border", "diagonals")]
    for preset in PRESETS.values():
        wanted += [f"{name}={value}" for name, value in preset.switches.items()]

    assert [name for name in wanted if not counts[name]] == []


@pytest.mark.deep
@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_value_of_every_switch_plays(ruleset: str, switch: str) -> None:
    values: tuple[object, ...] = SWITCHES[switch].choices
    if SWITCHES[switch].number:
        values = (0, 1, 2, 5, 10**30)
    if SWITCHES[switch].nullable:
        values = (*values, None)
    if switch == "stacks":
        values = ([[9, 1, 5], [1], [4, 4, 2]], [[1], [1], [1]], [[2] * 9, [3, 2], [8]])
    for value in values:
        rules = resolve(ruleset, 2, {switch: value})
        torres = TorresGame(rules, derive(rules, "switch"))
        rng = Random(1)
        while legal := torres.legal():
            torres.play(rng.choice(legal))
        assert torres.result is not None
