"""Workers that play every game with scripted players: for chaos runs and tests."""

from ladder.games.worker import registry
from ladder.games.worker.lifecycle import ReporterStep
from ladder.ops.chaos.scripted_player import open_player


class ScriptedReporterStep(ReporterStep):
    """Opens scripted players, which need neither a language nor a sandbox."""

    open_player = staticmethod(open_player)
    inspect_host = staticmethod(registry.unlimited)
    inspect_tools = None
