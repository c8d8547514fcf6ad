"""The rewards of a finished game, for programs that learn."""

from typing import Literal, get_args

from engine import Position
from engine.search import ranks_of

Reward = Literal["rank", "margin"]
REWARDS: tuple[Reward, ...] = get_args(Reward)
MARGIN_UNIT = 100.0  # points of a lead that give a reward of 1


def check_reward(reward: Reward) -> Reward:
    """Return the name of a reward. Raises ValueError for an unknown one."""
    if reward not in REWARDS:
        raise ValueError(f"reward is {reward!r}; it has to be 'rank' or 'margin'")
    return reward


def rewards_of(position: Position, reward: Reward) -> list[float]:
    """Return the rewards by seat at the end of a game; their sum is 0 for "rank".

    "rank" is the share of the other seats that a seat has beaten, minus the share of
    those that have beaten it. "margin" is the lead over the best other seat, in
    hundreds of points.
    """
    scores = list(position.track.scores[: position.seats])
    if reward == "margin":
        return [
            (score - max(scores[:seat] + scores[seat + 1 :])) / MARGIN_UNIT
            for seat, score in enumerate(scores)
        ]
    ranks = ranks_of(position)
    others = position.seats - 1
    return [
        (sum(other > rank for other in ranks) - sum(other < rank for other in ranks))
        / others
        for rank in ranks
    ]
