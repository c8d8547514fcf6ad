"""A player that takes its time: some seconds a game, so that blows fall into games."""

import threading

from ladder.ops.chaos.scripted_player import ScriptedPlayer


class SlowPlayer(ScriptedPlayer):
    def decide(self, ask):
        threading.Event().wait(0.02)
        return super().decide(ask)


def open_slow(submission, limits):
    return SlowPlayer(submission.digest)
