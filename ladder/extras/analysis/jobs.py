"""The job that computes the analyses that users have requested."""

from ladder.common.commands import be_nice
from ladder.common.jobs import Job
from ladder.extras.analysis import selectors, work


def _is_due() -> bool:
    """True if an analysis waits, or its process was killed."""
    return selectors.claimable().exists()


def _run() -> None:
    be_nice()
    work.work_off()


ANALYSE_GAMES = Job("analyse_games", _is_due, _run)
