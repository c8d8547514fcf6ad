"""The validation of a submission: the bot is built and plays a game of each form.

Each ladder that the bot joins has a form; the caller passes the forms. The bot
plays in one seat, against players of this process (`torres.checking`).

The results are a public report and a log for the owner. If the service itself
fails, the submission is not to blame: it waits and is validated again. A validation may
be delivered twice, and its process may be killed at any point.
"""

import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from engine.referee import Move
from ladder.bots import players, selectors, submissions
from ladder.bots.models import Submission
from ladder.bots.submissions import LostClaim
from ladder.common import spans, tracing
from ladder.common.scratch import scratch_folder
from torres.checking.checkup import Task, play_stages
from torres.checking.files import inspect_entry
from torres.checking.findings import Finding, Severity
from torres.checking.forms import GameForm, default_forms
from torres.checking.games import CheckedGame, GameSettings, play_form
from torres.checking.judgement import judge
from torres.common.errors import LadderError
from torres.common.shorten import shorten
from torres.runner.compiler import SECONDS, BuildFailed
from torres.runner.protocol import Limits
from torres.runner.sandbox import Program, Sandbox, SandboxUnavailable

SEED_BYTES = 16  # as in matches
DEFAULT_FORMS = default_forms(Limits())  # if there is no ladder
LEASE_RENEWAL_S = 5.0
BUILD_LEASE = timedelta(seconds=2 * SECONDS + 60)
RETRY_PAUSE = timedelta(seconds=60)  # times the number of failures
MAX_RETRY_PAUSE = timedelta(minutes=10)
# The limit for each part of the owner's log. A log has fewer than 10 long parts.
PART_BYTES = 8 << 10
BUILD_LOG_BYTES = 32 << 10

log = structlog.get_logger()


class Rejected(Exception):
    """The bot did not pass. The message is the summary of the public report."""


def run_next(
    forms_of: Callable[[int], Sequence[GameForm]], live_hosts: int = 0
) -> None:
    """Validate the submission whose owner is next, if any submission waits.

    ``forms_of`` returns the games that a submission, given by its id, has to play.

    A hint does not decide which one: a worker would otherwise follow the hints of one
    owner with many uploads before those of all others.
    """
    for submission_id in selectors.claimable_ids():
        if run(submission_id, forms_of(submission_id), live_hosts=live_hosts):
            return


def run(
    submission_id: int, forms: Sequence[GameForm] = (), live_hosts: int = 0
) -> bool:
    """Validate a submission, unless another worker does or it is validated already.

    ``forms`` are the games that the bot has to play. ``live_hosts`` is the number of
    hosts that run workers; 0 if it is not known. Return True if the submission was
    claimed here.
    """
    host = socket.gethostname()
    submission = submissions.claim(submission_id, host, live_hosts)
    if submission is None:
        return False
    attributes: spans.Attributes = {
        "torres.submission": submission.pk,
        "torres.bot": submission.bot.slug,
        "torres.language": submission.language,
    }
    parent = submission.traceparent
    consumer = spans.SpanKind.CONSUMER
    with tracing.span("validation", attributes, parent=parent, kind=consumer):
        try:
            Validation(submission, forms or DEFAULT_FORMS, live_hosts).run()
        except LostClaim as lost:
            log.info("validation lost", submission=submission.pk, why=str(lost))
    return True


class Validation:
    """One attempt to validate a submission, by the worker that claimed it."""

    def __init__(
        self, submission: Submission, forms: Sequence[GameForm], live_hosts: int = 0
    ) -> None:
        self._submission = submission
        self._forms = forms
        self._live_hosts = live_hosts
        self._steps: list[dict[str, object]] = []
        self._games: list[CheckedGame] = []
        self._findings: list[Finding] = []
        self._lease_renewed_at = time.monotonic()
        self._build_log = ""

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
        submissions.record_failure(submission, host, self._live_hosts, pause)

    def _validate_and_store(self) -> None:
        submission = self._submission
        try:
            self._validate()
        except Rejected as why:
            submissions.reject(submission, self._report(str(why)), self._owner_log())
        else:
            submissions.accept(submission, self._report("Ready."), self._owner_log())

    def _validate(self) -> None:
        """Unpack the bot, build it if its language needs that, and let it play.

        Raises Rejected with the summary of the report, and SandboxUnavailable.
        """
        submission = self._submission
        with ExitStack() as resources:
            with self._step("unpack") as step:
                program = players.program_of(submission, resources)
                step["detail"] = f"{program.language}, {program.entry}"
                self._reject_faults(inspect_entry(program))
            sandbox = players.sandbox_for(submission)
            if program.compile:
                self._renew_lease(Submission.Status.BUILDING, BUILD_LEASE)
                with self._step("build"):
                    program = self._built(sandbox, resources)
            else:
                program = players.built(submission, sandbox, resources).program
            self._renew_lease(Submission.Status.VALIDATING)
            folder = TemporaryDirectory(dir=scratch_folder(), prefix="validation-")
            error_output = Path(resources.enter_context(folder)) / "stderr"
            settings = GameSettings(program, sandbox, self._watch, error_output)
            self._games += play_stages(self._forms, partial(self._play, settings))
        self._reject_faults(judge(self._games))

    def _built(self, sandbox: Sandbox, resources: ExitStack) -> Program:
        try:
            built = players.built(self._submission, sandbox, resources)
        except BuildFailed as failure:
            self._build_log = failure.log
            raise
        self._build_log = built.log
        return built.program

    def _play(self, settings: GameSettings, task: Task) -> CheckedGame:
        """Play one game, and record it as a step of the report."""
        form, seat = task
        # A bot cannot know the seed, and a worker needs no secret to choose it.
        seed = secrets.token_hex(SEED_BYTES)
        with self._step(f"play {form.name}") as step:
            game = play_form(settings, form, seed, seat)
            step["detail"] = _outcome(game)
        step["ok"] = game.passed
        return game

    def _reject_faults(self, findings: Sequence[Finding]) -> None:
        """Store findings. Raises Rejected if one of them loses games."""
        self._findings += findings
        for finding in findings:
            if finding.severity == Severity.FAULT:
                reasons = dict.fromkeys(
                    game.forfeit.reason for game in self._games if game.forfeit
                )
                reason = f" ({', '.join(reasons)})" if reasons else ""
                raise Rejected(f"{finding.cause}{reason} {finding.cure}")

    def _watch(self, _move: Move) -> None:
        if time.monotonic() - self._lease_renewed_at > LEASE_RENEWAL_S:
            self._lease_renewed_at = time.monotonic()
            self._renew_lease(Submission.Status.VALIDATING)

    def _renew_lease(
        self, status: Submission.Status, lease: timedelta = submissions.LEASE
    ) -> None:
        submissions.renew_lease(self._submission, status, lease)

    @contextmanager
    def _step(self, name: str) -> Iterator[dict[str, object]]:
        """Record a step of the report, and yield it for its ``detail``.

        Errors that are the bot's own (a LadderError) become Rejected. A worker without
        the required sandbox is not the bot's fault: SandboxUnavailable passes through.
        """
        step: dict[str, object] = {"name": name, "ok": False, "detail": ""}
        self._steps.append(step)
        start = time.monotonic()
        kind, _, form = name.partition(" ")
        try:
            with tracing.span(f"validation: {kind}", {"torres.form": form}):
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

    def _report(self, summary: str) -> dict[str, object]:
        """Return the report for everybody: without what quotes or reads the bot."""
        faults = [
            {key: getattr(finding, key) for key in ("code", "cause", "cure", "where")}
            for finding in self._findings
            if finding.severity == Severity.FAULT
        ]
        return {"summary": summary, "steps": self._steps, "findings": faults}

    def _owner_log(self) -> str:
        """Return the log for the owner: findings, compiler, and the output of the bot.

        Each part is shortened by itself, so that a long one displaces no other. Of all
        games it holds the output in the first one that was lost, or in the last one.
        """
        parts = [shorten(_explained(finding), PART_BYTES) for finding in self._findings]
        parts.append(shorten(self._build_log, BUILD_LOG_BYTES))
        if self._games:
            lost = [game for game in self._games if not game.passed]
            parts += _output_parts((lost or self._games[-1:])[0])
        return "\n".join(part for part in parts if part)


def _outcome(game: CheckedGame) -> str:
    """Return what everybody may know of a game of the bot."""
    if game.forfeit is None:
        seen = game.seen
        return f"{seen.answers} answers, the slowest took {seen.slowest_ms:.0f} ms"
    when = f"before move {game.forfeit.before_move}"
    if game.forfeit.before_move == 0:
        when = "before its first move"
    return (
        f"It forfeited {when}: {game.forfeit.reason}. Its owner finds the details in"
        " the log."
    )


def _explained(finding: Finding) -> str:
    parts = [finding.cause, finding.cure, finding.evidence]
    return "\n".join(part for part in parts if part)


def _output_parts(game: CheckedGame) -> Iterator[str]:
    """Yield the last words of the bot in a game, and its error output."""
    verdict = game.verdict
    texts: dict[str, object] = {"stderr": game.stderr}
    if verdict is not None:
        received = verdict.received.decode(errors="replace")
        sent = verdict.sent.decode(errors="replace")
        texts = {"received": received, "exit": verdict.exit, **texts, "sent": sent}
    for key, value in texts.items():
        text = str(value or "").strip().replace("\0", "\N{REPLACEMENT CHARACTER}")
        if text:
            yield f"{game.form.name}, {key}: {shorten(text, PART_BYTES)}"
