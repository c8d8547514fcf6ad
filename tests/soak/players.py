"""Players that take some seconds for a game, so that an outage falls into games."""

import threading

from ladder.ops.chaos.scripted_player import ScriptedPlayer
from ladder.ops.chaos.scripted_worker import ScriptedReporterStep


class SlowPlayer(ScriptedPlayer):
    def decide(self, ask):
        threading.Event().wait(0.02)
        return super().decide(ask)


def open_slow(submission, limits, *, strict_clock):
    return SlowPlayer(submission.digest)


class SlowReporterStep(ScriptedReporterStep):
    """Starts with a worker and lets it play with slow players."""

    open_player = staticmethod(open_slow)
