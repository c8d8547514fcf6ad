"""Players without a process: for chaos runs and tests, never for uploads."""

import hashlib
from random import Random
from typing import Any

from engine.referee import Answer, Ask
from ladder.bots.models import Submission
from ladder.runner.verdict import SeatOutput


class ScriptedPlayer:
    """Answers with a legal action that the seed in its hello chooses.

    So the same game comes out again however often it is started.
    """

    def __init__(self, taste: str) -> None:
        self.taste = taste
        self.rng = Random(0)  # noqa: S311 -- a game, no secret

    def start(self, hello: dict[str, Any]) -> None:
        text = f"{hello['seed']} {self.taste}"
        self.rng.seed(hashlib.sha256(text.encode()).digest())

    def decide(self, ask: Ask) -> Answer:
        return Answer(None, self.rng.randrange(len(ask.legal)), ms=0.0)

    def forfeit(self, reason: str, detail: str) -> None:
        pass

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        pass

    def kill(self) -> None:
        pass

    def output(self) -> SeatOutput:
        return SeatOutput()


def open_player(submission: Submission, limits: dict[str, int]) -> ScriptedPlayer:
    """Open a scripted player; the submission's digest is its taste."""
    return ScriptedPlayer(submission.digest)
