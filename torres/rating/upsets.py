"""Games that a bot won against one with a much higher rating."""

from collections.abc import Mapping, Sequence
from typing import Any

from torres.rating.ledger import RatingChange
from torres.rating.trueskill import Skill

MIN_UPSET = 1.0
"""The winner was rated lower by at least this. Smaller differences are no surprise."""
MAX_UPSET_SIGMA = 2.5
"""The rating of a bot with a larger σ says too little to be surprised by its win."""


def lead_of_losers(inputs: Mapping[str, Any], changes: Sequence[RatingChange]) -> float:
    """Return how much higher the best loser was rated than the winner; 0 if not.

    The arguments are those of the entry of a game in the ledger.
    """
    before = {
        change["bot"]: Skill(*change["before"])
        for change in changes
        if change["before"]
    }
    seats = inputs.get("seats", ())
    ranks = {seat["bot"]: seat["rank"] for seat in seats if seat["bot"] in before}
    winners = [before[bot] for bot, rank in ranks.items() if rank == 1]
    losers = [before[bot] for bot, rank in ranks.items() if rank != 1]
    if len(winners) != 1 or not losers or winners[0].sigma > MAX_UPSET_SIGMA:
        return 0.0
    best = max(skill.shown_rating for skill in losers)
    return best - winners[0].shown_rating
