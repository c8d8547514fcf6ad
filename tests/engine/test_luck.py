"""The luck of purchases: unbiased, 0 if the draw is certain, and about draws only."""

import json
import math
from random import Random
from statistics import fmean, stdev
from typing import Any, cast

import pytest

from engine.analysis import Policy, reshuffled
from engine.game import TorresGame
from engine.kernel import Position
from engine.luck import _luck, _Purchase, luck_of
from engine.moves import BUY
from engine.replay import document
from engine.rulesets import resolve
from engine.setup import derive
from tests.conftest import needs_compiled
from tests.engine.factories import game, play_on


def before_purchase(phase: int = 3) -> tuple[Policy, Position]:
    """Return a position in which a seat may buy, with its policy."""
    rules = resolve("yucata", 2)
    torres = TorresGame(rules, derive(rules, "luck"))
    rng = Random(1)
    while torres.position.phase < phase or "buy" not in torres.legal():
        torres.play(rng.choice([a for a in torres.legal() if a != "buy"]))
    return Policy(rules), torres.position


def game_of_buyers() -> dict[str, Any]:
    """Return the replay of a random game in which seats buy often."""
    torres = game("yucata", 2, "buy")
    moves: list[dict[str, Any]] = []
    seat = torres.seat
    for action in play_on(torres, Random(1), favour="buy"):
        moves.append({"seat": seat, "actions": [action], "ms": 1.0})
        seat = torres.seat
    players = [{"name": "one"}, {"name": "two"}]
    replay = document(torres, seed="buy", players=players, moves=moves, forfeits=[])
    return cast(dict[str, Any], json.loads(json.dumps(replay)))


def test_every_purchase_has_its_luck() -> None:
    replay = game_of_buyers()
    actions = [action for move in replay["moves"] for action in move["actions"]]

    luck = luck_of(replay, 2)

    plies = [ply for ply, action in enumerate(actions) if action == "buy"]
    assert len(plies) > 1
    assert [purchase["ply"] for purchase in luck["purchases"]] == plies
    for purchase in luck["purchases"]:
        kept = actions[purchase["ply"] + 1].split()[1]  # `keep CARD bottom`
        assert kept in purchase["drawn"]
    for seat, total in enumerate(luck["seats"]):
        own = [p["luck"] for p in luck["purchases"] if p["seat"] == seat]
        assert total["purchases"] == len(own)
        assert math.isclose(total["luck"], sum(own), abs_tol=0.01)
    assert luck_of(replay, 2) == luck


def test_a_certain_draw_is_no_luck() -> None:
    policy, position = before_purchase()
    left = list(position.cards.left)
    left[position.seat] = 1
    position.cards.left = left

    luck = _luck(policy, _Purchase(0, position.seat, position, ()), 8)

    assert luck["luck"] == 0


@pytest.mark.slow
@needs_compiled
def test_luck_is_0_on_average() -> None:
    policy, position = before_purchase()
    seat = position.seat

    lucks = [
        _luck(policy, _Purchase(n, seat, reshuffled(position, Random(n)), ()), 8)
        for n in range(60)
    ]

    values = [luck["luck"] for luck in lucks]
    assert stdev(values) > 0
    assert abs(fmean(values)) < 3.5 * stdev(values) / math.sqrt(len(values))


def test_a_good_card_is_luck_and_a_bad_one_is_not() -> None:
    """The best of twelve draws is worth clearly more than the worst one."""
    policy, position = before_purchase(2)
    seat = position.seat
    means = []
    for n in range(12):
        world = reshuffled(position, Random(n))
        world.perform(BUY << 16)
        outlook = policy.outlook(lambda r, w=world: reshuffled(w, r), 12, "all")
        means.append((outlook.leads[seat], outlook.lead_errors[seat]))

    best, worst = max(means), min(means)

    assert best[0] - worst[0] > 2 * math.hypot(best[1], worst[1])
