"""The validation of a submission: the bot is built and plays a game against itself.

The results are a report for everybody and a log for the owner. If the service itself
fails, the submission is not to blame: it waits and is validated again. A validation may
be delivered twice, and its process may be killed at any point.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import structlog
from django.utils.crypto import salted_hmac

from engine.game import TorresGame
from engine.referee import Forfeit, GameRecord, Move, play
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots import players, selectors, submissions
from ladder.bots.models import Submission
from ladder.bots.players import SubmissionPlayer
from ladder.bots.submissions import LostClaim
from ladder.common.errors import LadderError
from ladder.runner.compiler import SECONDS, BuildFailed
from ladder.runner.protocol import STDERR_TAIL_BYTES, Limits
from ladder.runner.sandbox import SandboxUnavailable

RULESET = "yucata"
SEED_CHARS = 32  # as in matches
SEATS = 2
DEFAULT_LIMITS = Limits()
LEASE_RENEWAL_S = 5.0
BUILD_LEASE = timedelta(seconds=2 * SECONDS + 60)
RETRY_PAUSE = timedelta(seconds=60)  # times the number of failures
MAX_RETRY_PAUSE = timedelta(minutes=10)

log = structlog.get_logger()


class Rejected(Exception):
    """The bot did not pass. The message is the summary of the public report."""


def run_next(live_hosts: int = 0) -> None:
    """Validate the submission whose owner is next, if any submission waits.

    A hint does not decide which one: a worker would otherwise follow the hints of one
    owner with many uploads before those of all others.
    """
    for submission_id in selectors.claimable_ids():
        if run(submission_id, live_hosts=live_hosts):
            return


def run(
    submission_id: int, limits: Limits = DEFAULT_LIMITS, live_hosts: int = 0
) -> bool:
    """Validate a submission, unless another worker does or it is validated already.

    ``live_hosts`` is the number of hosts that run workers; 0 if it is not known. Return
    True if the submission was claimed here.
    """
    submission = submissions.claim(submission_id)
    if submission is None:
        return False
    try:
        Validation(submission, limits, live_hosts).run()
    except LostClaim as lost:
        log.info("validation lost", submission=submission.pk, why=str(lost))
    return True


class Validation:
    """One attempt to validate a submission, by the worker that claimed it."""

    def __init__(
        self, submission: Submission, limits: Limits, live_hosts: int = 0
    ) -> None:
        self._submission = submission
        self._live_hosts = live_hosts
        self._limits = limits.as_dict()
        self._steps: list[dict[str, Any]] = []
        self._players: list[SubmissionPlayer] = []
        self._lease_renewed_at = time.monotonic()
        self._log: list[str] = []

    def run(self) -> None:
        """Validate the submission and store the result. Raises LostClaim."""
        submission = self._submission
        try:
            self._validate_and_store()
        except LostClaim:
            raise
        except SandboxUnavailable as why:
            log.warning("validation waits", submission=submission.pk, why=str(why))
            summary = (
                f"It waits for a worker that can run {submission.language} safely. The"
                " operator finds the reason in the log of the worker."
            )
            submissions.postpone(submission, summary, RETRY_PAUSE)
        except Exception:  # the one boundary: our crash is not the bot's
            log.exception("validation failed", submission=submission.pk)
            self._record_failure()

    def _record_failure(self) -> None:
        submission = self._submission
        pause = min(RETRY_PAUSE * (submission.failures + 1), MAX_RETRY_PAUSE)
        host = socket.gethostname()
        if submissions.record_failure(submission, host, self._live_hosts, pause):
            log.critical(
                "the service cannot validate an upload", submission=submission.pk
            )

    def _validate_and_store(self) -> None:
        submission = self._submission
        try:
            self._validate()
        except Rejected as why:
            submissions.reject(submission, self._report(str(why)), self._owner_log())
        else:
            submissions.accept(submission, self._report("Ready."), self._owner_log())

    def _validate(self) -> None:
        """Unpack the bot, build it if its language needs that, and let it play."""
        with self._step("unpack") as step:
            with ExitStack() as resources:
                box = players.box_of(self._submission, resources)
            step["detail"] = f"{box.language}, {box.entry}"
        if box.compile:
            self._renew_lease(Submission.Status.BUILDING, BUILD_LEASE)
            with self._step("build"):
                self._build()
        self._renew_lease(Submission.Status.VALIDATING)
        with self._step("play itself") as step:
            self._judge(self._play_itself(), step)

    def _build(self) -> None:
        sandbox = players.sandbox_for(self._submission)
        try:
            with ExitStack() as resources:
                built = players.built(self._submission, sandbox, resources)
                self._log.append(built.log)
        except BuildFailed as failure:
            self._log.append(failure.log)
            raise

    def _play_itself(self) -> GameRecord:
        rules = resolve(RULESET, SEATS)
        # The same upload meets the same game. Without the key, a bot cannot know it.
        key = salted_hmac("validation", self._submission.digest, algorithm="sha256")
        seed = key.hexdigest()[:SEED_CHARS]
        with ExitStack() as opened:
            for _ in range(SEATS):
                player = players.open_player(self._submission, self._limits)
                opened.callback(player.kill)
                self._players.append(player)
            return play(
                TorresGame(rules, derive(rules, seed)),
                self._players,
                seed=seed,
                limits=self._limits,
                watch=self._watch,
            )

    def _watch(self, _move: Move) -> None:
        if time.monotonic() - self._lease_renewed_at > LEASE_RENEWAL_S:
            self._lease_renewed_at = time.monotonic()
            self._renew_lease(Submission.Status.VALIDATING)

    def _renew_lease(
        self, status: Submission.Status, lease: timedelta = submissions.LEASE
    ) -> None:
        submissions.renew_lease(self._submission, status, lease)

    def _judge(self, game: GameRecord, step: dict[str, Any]) -> None:
        """Describe the game in the report. Raises Rejected if a seat forfeited."""
        for forfeit in game.forfeits:
            self._log.append(f"Seat {forfeit.seat}: {forfeit.reason}: {forfeit.detail}")
        if game.forfeits:
            raise Rejected(_describe(game.forfeits[0]))
        slowest = max((move.answer.ms for move in game.moves if move.answer), default=0)
        step["detail"] = f"{len(game.moves)} answers, the slowest took {slowest:.0f} ms"

    @contextmanager
    def _step(self, name: str) -> Iterator[dict[str, Any]]:
        """Record a step of the report, and yield it for its ``detail``.

        Errors that are the bot's own (a LadderError) become Rejected. A worker without
        the required sandbox is not the bot's fault: SandboxUnavailable passes through.
        """
        step: dict[str, Any] = {"name": name, "ok": False, "detail": ""}
        self._steps.append(step)
        start = time.monotonic()
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
            step["ms"] = round((time.monotonic() - start) * 1e3)

    def _report(self, summary: str) -> dict[str, Any]:
        return {"summary": summary, "steps": self._steps}

    def _owner_log(self) -> str:
        """Return the log for the owner: compiler, forfeits, and each seat's output."""
        for seat, player in enumerate(self._players):
            output = player.output()
            parts = {"stderr": output.stderr, **output.verdict}
            for key in ("received", "exit", "stderr", "sent"):
                text = str(parts.get(key) or "").strip()
                if text:
                    self._log.append(f"Seat {seat}, {key}: {text}")
        return "\n".join(self._log)[-STDERR_TAIL_BYTES:]


def _describe(forfeit: Forfeit) -> str:
    """Return why the bot did not pass, without what only its owner may read."""
    when = f"before move {forfeit.before_move}"
    if forfeit.before_move == 0:
        when = "before its first move"
    return (
        f"In a game against itself it forfeited {when}: {forfeit.reason}."
        " Its owner finds the details in the log."
    )
