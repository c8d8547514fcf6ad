"""Trying a submission before it may play: it is unpacked, and plays against itself.

What comes out is a report for everybody and a log for its owner. A failure of ours is
never the bot's: it is tried again. Safe to call twice, and to be killed anywhere.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from engine.game import TorresGame
from engine.referee import Forfeit, GameRecord, Move, ServiceFault, play
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots import players, services
from ladder.bots.models import Submission
from ladder.bots.services import LostClaim
from ladder.common.errors import LadderError
from ladder.runner.compiler import SECONDS, BuildFailed
from ladder.runner.protocol import STDERR_TAIL_BYTES, Limits
from ladder.runner.sandbox import SandboxUnavailable

RULESET, SEATS = "yucata", 2
DEFAULT = Limits()
BEAT_S = 5.0
LOOK_AGAIN = timedelta(seconds=60)
BUILD_LEASE = timedelta(seconds=2 * SECONDS + 60)

log = structlog.get_logger()


class Rejected(Exception):
    """The bot did not pass; the message is for everybody."""


@dataclass(slots=True)
class Notes:
    """What one seat of the trial left behind."""

    stderr: str = ""
    verdict: dict[str, Any] = field(default_factory=dict)


def run(submission_id: int, limits: Limits = DEFAULT) -> None:
    """Try a submission if it is due."""
    submission = services.begin(submission_id)
    if submission is None:
        return
    try:
        Validation(submission, limits).run()
    except LostClaim as lost:
        log.info("trial lost", submission=submission.pk, why=str(lost))


class Validation:
    def __init__(self, submission: Submission, limits: Limits) -> None:
        self._submission, self._limits = submission, limits.as_dict()
        self._steps: list[dict[str, Any]] = []
        self._notes = [Notes() for _ in range(SEATS)]
        self._beat = time.monotonic()
        self._log: list[str] = []

    def run(self) -> None:
        """Try it, and write what came out."""
        submission = self._submission
        try:
            self._try()
        except Rejected as why:
            services.reject(submission, self._report(str(why)), self._whole_log())
        except SandboxUnavailable as below:
            services.postpone(submission, str(below), LOOK_AGAIN)
        except (ServiceFault, OSError) as ours:
            log.exception("trial failed", submission=submission.pk)
            pause = LOOK_AGAIN * min(submission.failures, 10)
            services.failed(submission, f"We could not try it: {ours}", pause)
        else:
            services.accept(submission, self._report("Ready."), self._whole_log())

    def _try(self) -> None:
        with self._step("unpack") as step:
            with ExitStack() as held:
                box = players.box_of(self._submission, held)
            step["detail"] = f"{box.language}, {box.entry}"
        if box.compile:
            services.go_on(self._submission, Submission.Status.BUILDING, BUILD_LEASE)
            with self._step("build"):
                self._build()
        services.go_on(self._submission, Submission.Status.VALIDATING)
        with self._step("play itself") as step:
            self._judge(self._game(), step)

    def _build(self) -> None:
        sandbox = players.sandbox_for(self._submission)
        try:
            with ExitStack() as held:
                built = players.built(self._submission, sandbox, held)
                self._log.append(built.log)
        except BuildFailed as failure:
            self._log.append(failure.log)
            raise

    def _game(self) -> GameRecord:
        rules = resolve(RULESET, SEATS)
        # The same upload is always tried with the same game.
        seed = f"trial/{self._submission.digest[:16]}"
        seats = [
            players.open_player(self._submission, seat, self._limits, notes)
            for seat, notes in enumerate(self._notes)
        ]
        game = TorresGame(rules, derive(rules, seed))
        return play(game, seats, seed=seed, limits=self._limits, watch=self._watch)

    def _watch(self, _move: Move) -> None:
        if time.monotonic() - self._beat > BEAT_S:
            self._beat = time.monotonic()
            services.go_on(self._submission, Submission.Status.VALIDATING)

    def _judge(self, outcome: GameRecord, step: dict[str, Any]) -> None:
        for forfeit in outcome.forfeits:
            self._log.append(f"Seat {forfeit.seat}: {forfeit.reason}: {forfeit.detail}")
        if outcome.forfeits:
            raise Rejected(_blame(outcome.forfeits[0]))
        slowest = max((m.answer.ms for m in outcome.moves if m.answer), default=0.0)
        step["detail"] = (
            f"{len(outcome.moves)} answers, the slowest took {slowest:.0f} ms"
        )

    @contextmanager
    def _step(self, name: str) -> Iterator[dict[str, Any]]:
        step: dict[str, Any] = {"name": name, "ok": False, "detail": ""}
        self._steps.append(step)
        began = time.monotonic()
        try:
            yield step
            step["ok"] = True
        except Rejected as why:
            step["detail"] = str(why)
            raise
        except SandboxUnavailable:
            raise
        except LadderError as why:
            step["detail"] = str(why)
            raise Rejected(str(why)) from why
        finally:
            step["ms"] = round((time.monotonic() - began) * 1e3)

    def _report(self, summary: str) -> dict[str, Any]:
        return {"summary": summary, "steps": self._steps}

    def _whole_log(self) -> str:
        for seat, notes in enumerate(self._notes):
            told = {"stderr": notes.stderr, **notes.verdict}
            for key in ("received", "exit", "stderr", "sent"):
                if said := str(told.get(key) or "").strip():
                    self._log.append(f"Seat {seat}, {key}: {said}")
        return "\n".join(self._log)[-STDERR_TAIL_BYTES:]


def _blame(forfeit: Forfeit) -> str:
    when = (
        "before its first move"
        if forfeit.before_move == 0
        else f"before move {forfeit.before_move}"
    )
    return (
        f"In a game against itself it forfeited {when}: {forfeit.reason}."
        " Its owner finds the details in the log."
    )
