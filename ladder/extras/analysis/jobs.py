"""The job that computes the analyses that users have requested, and stories."""

from ladder.common.commands import be_nice
from ladder.common.jobs import Job
from ladder.extras.analysis import by_hand, selectors, stories, work

STAY_S = 60.0
"""The process stays this long after the last request of a person."""


def _is_due() -> bool:
    """True if an analysis waits, if its process was killed, or if a story may begin."""
    if selectors.claimable().exists():
        return True
    if not stories.budget_allows():
        return False
    return by_hand.next_game() is not None or stories.next_game() is not None


def _run() -> None:
    be_nice()
    work.work_off(STAY_S)


ANALYSE_GAMES = Job("analyse_games", _is_due, _run, check_interval_s=1)
