"""The rewards of a finished game, for programs that learn."""

from collections.abc import Sequence
from typing import Literal, get_args

from engine import Position
from engine.game import Result
from engine.search import ranks_of

Reward = Literal["rank", "margin"]
REWARDS: tuple[Reward, ...] = get_args(Reward)
MARGIN_UNIT = 100.0  # points of a lead that give a reward of 1


def check_reward(reward: Reward) -> Reward:
    """Return the name of a reward. Raises ValueError for an unknown one."""
    if reward not in REWARDS:
        raise ValueError(f"reward is {reward!r}; it has to be 'rank' or 'margin'")
    return reward


def rank_rewards(ranks: Sequence[int]) -> list[float]:
    """Return the rewards "rank" by seat; their sum is 0.

    They are the share of the other seats that a seat has beaten, minus the share of
    those that have beaten it.
    """
    return [
        (sum(other > rank for other in ranks) - sum(other < rank for other in ranks))
        / (len(ranks) - 1)
        for rank in ranks
    ]


def margins(scores: Sequence[int]) -> list[float]:
    """Return the rewards "margin" by seat: the lead over the best other seat.

    Their unit is `MARGIN_UNIT` points.
    """
    return [
        (score - max([*scores[:seat], *scores[seat + 1 :]])) / MARGIN_UNIT
        for seat, score in enumerate(scores)
    ]


def rewards_of(position: Position, reward: Reward) -> list[float]:
    """Return the rewards by seat at the end of a game without forfeits."""
    if reward == "margin":
        return margins(position.track.scores[: position.seats])
    return rank_rewards(ranks_of(position))


def result_rewards(result: Result, reward: Reward) -> list[float]:
    """Return the rewards by seat of a result, which may have forfeits."""
    if reward == "margin":
        return margins(result["scores"])
    return rank_rewards(result["ranks"])
