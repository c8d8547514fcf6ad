"""The luck of purchases: the worth of the cards that a seat drew.

The luck of a purchase is the lead of the seat after the real draw minus its lead after
the same purchase from a shuffled deck, both as means of games of a strong policy. So
luck has the mean 0 by construction, and a decision is never luck: neither to buy, nor
which card to keep. docs/analysis.md says how little of the results it explains.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple, TypedDict

from engine.analysis import Policy, reshuffled
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY
from engine.replay import play_again
from engine.view import drawn, fresh


class PurchaseLuck(TypedDict):
    """One purchase: the cards that it drew, and what they were worth in points."""

    ply: int
    seat: int
    drawn: list[str]
    luck: float
    error: float


class SeatLuck(TypedDict):
    """The sum over the purchases of a seat, with its standard error."""

    purchases: int
    luck: float
    error: float


class GameLuck(TypedDict):
    """The luck of all purchases of a game, and by seat."""

    purchases: list[PurchaseLuck]
    seats: list[SeatLuck]


class _Purchase(NamedTuple):
    ply: int
    seat: int
    before: Position
    forfeited: tuple[int, ...]


def luck_of(document: object, games: int, policy: Policy | None = None) -> GameLuck:
    """Return the luck of each purchase of a replay. Raises InvalidReplay.

    The two means of a purchase are those of `games` games each.
    """
    found: list[_Purchase] = []

    def watch(game: TorresGame, action: str) -> None:
        seat = game.position.seat
        if action == "buy" and seat not in game.forfeited:
            forfeited = tuple(game.forfeited)
            found.append(_Purchase(game.ply, seat, game.position.copy(), forfeited))

    game = play_again(document, watch)
    policy = policy or Policy(game.rules)
    purchases = [_luck(policy, purchase, games) for purchase in found]
    seats = range(game.rules.seats)
    return {
        "purchases": purchases,
        "seats": [_sum([p for p in purchases if p["seat"] == seat]) for seat in seats],
    }


def _luck(policy: Policy, purchase: _Purchase, games: int) -> PurchaseLuck:
    real = purchase.before.copy()
    real.perform(BUY << 16)

    def after_any_draw(rng: Random) -> Position:
        world = reshuffled(purchase.before, rng)
        world.perform(BUY << 16)
        return world

    seed, seat = f"buy {purchase.ply}", purchase.seat
    forfeited = purchase.forfeited
    mean = policy.outlook(after_any_draw, games, seed, forfeited)
    own = policy.outlook(lambda rng: reshuffled(real, rng), games, seed, forfeited)
    return {
        "ply": purchase.ply,
        "seat": seat,
        "drawn": drawn(real) or _added(purchase.before, real),
        "luck": round(own.leads[seat] - mean.leads[seat], 2),
        "error": round(math.hypot(own.lead_errors[seat], mean.lead_errors[seat]), 2),
    }


def _added(before: Position, after: Position) -> list[str]:
    """Return the card that a purchase without a choice gave."""
    cards = fresh(after)
    for card in fresh(before):
        cards.remove(card)
    return cards


def _sum(purchases: Sequence[PurchaseLuck]) -> SeatLuck:
    return {
        "purchases": len(purchases),
        "luck": round(sum(purchase["luck"] for purchase in purchases), 2),
        "error": round(math.hypot(*(purchase["error"] for purchase in purchases)), 2),
    }
