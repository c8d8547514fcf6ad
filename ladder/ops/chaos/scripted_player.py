"""Players without a process, for chaos runs and tests; never for uploaded bots."""

import hashlib
from random import Random

from engine.referee import Answer, Ask, Hello
from ladder.bots.models import Submission
from torres.runner.verdict import SeatOutput


class ScriptedPlayer:
    """Plays a legal action that a random generator chooses.

    The generator is seeded by the game's seed and by the player's own `salt`, so every
    attempt at the same game gives the same moves.
    """

    def __init__(self, salt: str) -> None:
        self.salt = salt
        self.rng = Random(0)  # noqa: S311 -- a game, no secret

    def start(self, hello: Hello) -> None:
        text = f"{hello.seed} {self.salt}"
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


def open_player(
    submission: Submission, limits: dict[str, int], *, strict_clock: bool = False
) -> ScriptedPlayer:
    """Return a scripted player whose salt is the digest of the submission."""
    return ScriptedPlayer(submission.digest)
