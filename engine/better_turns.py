"""A better turn for a seat that lost chances by its own turn.

Some candidates of the turn search are compared by games of the policy from the
positions after them. A purchase ends a candidate: what it draws is left to chance, and
the policy plays the rest of the turn.
"""

from random import Random
from typing import TypedDict

from engine.analysis import PROMISE, Outlook, Policy, reshuffled
from engine.kernel import Position
from engine.moves import BUY, END, TURN
from engine.notation import text
from engine.strategy import RoundSearches, different, in_order

WIDTH = 100
"""The beam of the search for candidates."""
FOUND = 60
CANDIDATES = 3
FIRST_SHARE = 2
"""A candidate gets half of the games; the best one gets twice as many, other ones."""


class BetterTurn(TypedDict):
    """A turn that a seat could have played, and its worth for the seat.

    `played` are the actions of the turn that it played instead. `actions` has no `end`,
    and at most one purchase, as its last action. `error` is the standard error of the
    chance.
    """

    ply: int
    played: list[str]
    actions: list[str]
    chance: float
    lead: float
    error: float


def best_alternative(
    policy: Policy,
    position: Position,
    ply: int,
    played: list[str],
    forfeited: tuple[int, ...],
    games: int,
) -> BetterTurn | None:
    """Return the turn that the policy thinks best before a turn; None if there is none.

    The hands are the real ones, as in the whole analysis.
    """
    seat = position.seat
    found = (
        RoundSearches(policy.rules, PROMISE).of(position).best(position, WIDTH, FOUND)
    )
    plans = [in_order(turn.moves) for turn in different(found, CANDIDATES)]

    def outlook(plan: list[int], number: int, seed: str) -> Outlook:
        def start(rng: Random) -> Position:
            world = reshuffled(position, rng)
            for move in plan:
                world.perform(move)
            if plan[-1] >> 16 != BUY and _still_plays(world, seat):
                world.perform(END << 16)
            return world

        return policy.outlook(start, number, f"{seed} {ply}", forfeited)

    if not plans:
        return None
    few = max(1, games // FIRST_SHARE)
    best = max(plans, key=lambda plan: outlook(plan, few, "candidate").leads[seat])
    worth = outlook(best, 2 * games, "better")
    return {
        "ply": ply,
        "played": played,
        "actions": _as_actions(position, best),
        "chance": round(worth.chances[seat], 3),
        "lead": round(worth.leads[seat], 2),
        "error": round(worth.chance_errors[seat], 3),
    }


def _still_plays(position: Position, seat: int) -> bool:
    return position.decision == TURN and position.seat == seat


def _as_actions(position: Position, plan: list[int]) -> list[str]:
    after = position.copy()
    actions = []
    for move in plan:
        actions.append(text(after, move))
        after.perform(move)
    return actions
