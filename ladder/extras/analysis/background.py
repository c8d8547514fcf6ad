"""The analysis of games as a process of its own, beside the dispatcher."""

from ladder.common.background import BackgroundCommand
from ladder.extras.analysis import selectors


class AnalysisProcess(BackgroundCommand):
    """Runs `manage.py analyse_games` while analyses wait."""

    command = "analyse_games"

    def has_work(self) -> bool:
        """True if an analysis waits, or its process was killed."""
        return selectors.claimable().exists()
