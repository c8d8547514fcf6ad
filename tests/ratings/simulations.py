"""Simulated ladders in motion: new versions, and how far they fall."""

from copy import deepcopy

from tests.ratings.simulated_ladder import SimulatedLadder, SimulationPlan
from torres.rating.ledger import EntryKind


def played_ladder(plan: SimulationPlan, games: int) -> SimulatedLadder:
    """Return a ladder on which each bot has played this many games on average."""
    ladder = SimulatedLadder(plan)
    seats = 0
    while seats < games * plan.bots:
        seats += ladder.play()
    return ladder


def board(ladder: SimulatedLadder) -> list[int]:
    """Return the bots by shown rating, best first."""
    ratings = {bot: row.skill.shown_rating for bot, row in ladder.state.bots.items()}
    return sorted(ratings, key=lambda bot: (-ratings[bot], bot))


def renew(ladder: SimulatedLadder, bot: int, *, better: float, digest: str) -> None:
    """Upload a new version of a bot whose true skill is `better` points higher."""
    inputs = {"bot": bot, "submission": bot, "digest": digest}
    ladder.append(EntryKind.NEW_VERSION, inputs, [bot])
    ladder.skills[bot] += better


def ranks_lost(ladder: SimulatedLadder, index: int, better: float, after: int) -> int:
    """Return how many ranks a bot loses at worst after a new version.

    The bot is at `index` of the board (0 is the best) when the version is uploaded. It
    is watched for `after` games of its own, on a copy of the ladder.
    """
    copy = deepcopy(ladder)
    bot = board(copy)[index]
    renew(copy, bot, better=better, digest="another")
    worst = board(copy).index(bot)
    while copy.state.bots[bot].fresh < after:
        copy.play()
        worst = max(worst, board(copy).index(bot))
    return worst - index
