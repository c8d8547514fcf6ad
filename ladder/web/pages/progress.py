"""The way of an upload: uploaded, built, validated, first rated game.

The page of a submission shows these four steps and polls them until the last one is
over. Nothing here is stored: each step follows from the rows of the apps.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import takewhile
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop, ngettext

from ladder.bots.models import OPEN, Bot, Submission
from ladder.games import capabilities, selectors, visibility
from ladder.games.durations import PREPARATION, UsualDurations, usual_durations
from ladder.games.models import Game, GameStatus, Match
from ladder.ratings import memberships
from ladder.ratings.models import Entry, Membership
from torres.rating.ledger import EntryKind
from torres.runner.languages import BY_NAME

FRESH_PERIOD = timedelta(days=1)
"""The first game of an upload is looked for in this time after it was ready.

Later the page need not follow it, and its bot may have many thousands of games.
"""
FIRST_GAME = gettext_noop("First rated game")
MAX_LINES = 12
MAX_CHARS = 200
# Compilers and interpreters of all languages write one of these words.
COMPLAINT = re.compile(
    r"\berror\b|\w(Error|Exception)\b|\bpanicked\b|\bpanic:|\bfatal\b", re.IGNORECASE
)
Status = Submission.Status


class StepState(StrEnum):
    """The state of one step."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """One step. `usual_s` is how long it usually takes; None if that is not known."""

    title: str
    state: StepState
    detail: str = ""
    usual_s: float | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UploadFailure:
    """Why an upload was rejected: what happened, what to do, and where.

    `lines` are those lines of the log that tell most; they are for the owner only.
    """

    cause: str
    cure: str = ""
    where: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UploadProgress:
    """The steps of an upload. `is_over` if no step can change any more.

    `sentence` says in one sentence how far the upload is. `game` is the first rated
    game, or the one that is scheduled or runs as the first. `tag` changes if anything
    of this changes.
    """

    steps: list[ProgressStep]
    sentence: str
    is_over: bool
    game: Game | None
    failure: UploadFailure | None

    @property
    def tag(self) -> str:
        game = self.game and (self.game.pk, self.game.status)
        parts = (self.steps, self.sentence, self.is_over, game, self.failure)
        return f'"{sha256(repr(parts).encode()).hexdigest()[:32]}"'


def progress(submission: Submission, *, own: bool) -> UploadProgress:
    """Return how far an upload is. Only with `own` it contains lines of the log."""
    usual = usual_durations(submission.language)
    checked = [_uploaded(submission), *_checks(submission, usual)]
    failure = _failure(submission, own=own)
    game = None
    if submission.status in OPEN:
        last = ProgressStep(_(FIRST_GAME), StepState.WAITING, usual_s=usual.game_s)
    elif submission.status == Status.REJECTED:
        last = ProgressStep(_(FIRST_GAME), StepState.NOT_REACHED)
    else:
        game = _first_game(submission)
        last = _first_game_step(submission, game, usual)
    steps = [*checked, last]
    is_over = last.state not in (StepState.WAITING, StepState.RUNNING)
    return UploadProgress(steps, _sentence(steps), is_over, game, failure)


def _uploaded(submission: Submission) -> ProgressStep:
    size = _("%(language)s, %(size)s bytes") % {
        "language": submission.language,
        "size": f"{submission.size:,}",
    }
    return ProgressStep(_("Uploaded"), StepState.DONE, size, at=submission.created_at)


def _checks(submission: Submission, usual: UsualDurations) -> list[ProgressStep]:
    """Return the steps Built and Validated."""
    build, validation = _check_states(submission)
    language = BY_NAME.get(submission.language)
    detail = ""
    if build == StepState.DONE and not (language and language.compile):
        detail = _("%(language)s needs no compiler.") % {
            "language": submission.language
        }
    waiting = ""
    if submission.status in (Status.UPLOADED, Status.WAITING):
        summary = str(submission.report.get("summary", ""))
        waiting = missing_worker(submission) or _(summary or "It waits for a worker.")
    games = _games_played(submission.report)
    if validation == StepState.FAILED and games:
        games = _("%(games)s played; the last one showed the fault.") % {"games": games}
    elif games:
        games = _("%(games)s passed.") % {"games": games}
    return [
        ProgressStep(_("Built"), build, waiting or detail, usual.build_s),
        ProgressStep(
            _("Validated"), validation, games, usual.validation_s, submission.ready_at
        ),
    ]


def _check_states(submission: Submission) -> tuple[StepState, StepState]:
    match submission.status:
        case Status.UPLOADED | Status.WAITING:
            return StepState.WAITING, StepState.WAITING
        case Status.BUILDING:
            return StepState.RUNNING, StepState.WAITING
        case Status.VALIDATING:
            return StepState.DONE, StepState.RUNNING
        case Status.REJECTED:
            if _was_built(submission.report):
                return StepState.DONE, StepState.FAILED
            return StepState.FAILED, StepState.NOT_REACHED
        case _:
            return StepState.DONE, StepState.DONE


def _was_built(report: dict[str, Any]) -> bool:
    """True if a rejected upload passed all steps before its games."""
    steps = report.get("steps", [])
    prepared = [step for step in steps if step["name"] in PREPARATION]
    return bool(prepared) and all(step["ok"] for step in prepared)


def _games_played(report: dict[str, Any]) -> str:
    played = [s for s in report.get("steps", []) if s["name"] not in PREPARATION]
    if not played:
        return ""
    text = ngettext("%(count)s game", "%(count)s games", len(played))
    return text % {"count": len(played)}


def missing_worker(submission: Submission) -> str:
    """Say what all workers lack for an upload; empty if one of them can run it."""
    pool = selectors.worker_pool()
    if not pool.groups:
        return _("Waiting: no worker is running. The operators have to start one.")
    bot = (submission.language, submission.bot.house)
    needed = capabilities.needs([bot], settings.TORRES_SANDBOX)
    missing = pool.missing_tags(needed)
    if not missing:
        return ""
    return _(
        "Waiting: no worker offers %(missing)s now. The operators can help: %(remedy)s."
    ) % {"missing": ", ".join(missing), "remedy": capabilities.remedy(missing)}


def _first_game(submission: Submission) -> Game | None:
    """Return the first ladder game of an upload that counts or may count."""
    ready_at = submission.ready_at
    if ready_at is None or ready_at < timezone.now() - FRESH_PERIOD:
        return None
    rows = visibility.games().filter(
        match__kind=Match.Kind.LADDER,
        seats__submission=submission,
        status__in=(GameStatus.SCHEDULED, GameStatus.RUNNING, GameStatus.FINISHED),
    )
    return rows.order_by("id").first()


def _first_game_step(
    submission: Submission, game: Game | None, usual: UsualDurations
) -> ProgressStep:
    title = _(FIRST_GAME)
    if game is None:
        return _step_without_game(submission, usual)
    if game.status == GameStatus.SCHEDULED:
        detail = _why_the_game_waits(game)
        return ProgressStep(title, StepState.WAITING, detail, usual.game_s)
    if game.status == GameStatus.RUNNING:
        detail = _("Game %(game)s is running.") % {"game": game.pk}
        return ProgressStep(title, StepState.RUNNING, detail, usual.game_s)
    if not Entry.objects.filter(game=game, kind=EntryKind.GAME).exists():
        detail = _("Game %(game)s has ended. Its rating follows in a moment.") % {
            "game": game.pk
        }
        return ProgressStep(title, StepState.RUNNING, detail, usual.game_s)
    detail = _result(game, submission)
    return ProgressStep(title, StepState.DONE, detail, None, game.finished_at)


def _why_the_game_waits(game: Game) -> str:
    pool = selectors.worker_pool()
    missing = pool.missing_tags(game.needs) if pool.groups else []
    if not pool.groups:
        text = _("Game %(game)s is scheduled, but no worker is running.")
    elif missing:
        text = _("Game %(game)s is scheduled, but no worker offers %(missing)s now.")
    else:
        text = _("Game %(game)s is scheduled and waits for a worker.")
    return text % {"game": game.pk, "missing": ", ".join(missing)}


def _result(game: Game, submission: Submission) -> str:
    """Return the rank of an upload in its game, and its forfeit if it has one."""
    seats = list(game.seats.all())
    own = next(seat for seat in seats if seat.submission_id == submission.pk)
    text = _("Rank %(rank)s of %(seats)s, %(score)s points.")
    if own.fault:
        text = _("Rank %(rank)s of %(seats)s: it forfeited (%(fault)s).")
    return text % {
        "rank": own.rank,
        "seats": len(seats),
        "score": own.score,
        "fault": _(own.get_fault_display()) if own.fault else "",
    }


def _step_without_game(submission: Submission, usual: UsualDurations) -> ProgressStep:
    """Say why an upload that passed has no game yet, or why it gets none."""
    title = _(FIRST_GAME)
    ready_at = submission.ready_at
    if ready_at is None or ready_at < timezone.now() - FRESH_PERIOD:
        detail = _("The page of the bot lists its games.")
        return ProgressStep(title, StepState.DONE, detail)
    if submission.status == Status.RETIRED:
        detail = _("Another version took its place before it played.")
        return ProgressStep(title, StepState.FAILED, detail)
    bot = submission.bot
    if bot.status != Bot.Status.ACTIVE:
        detail = _("The bot is %(status)s, so it gets no games.") % {
            "status": _(bot.get_status_display())
        }
        return ProgressStep(title, StepState.FAILED, detail)
    places = [place.status for place in memberships.places(bot, only_own=True)]
    if places and Membership.Status.ACTIVE not in places:
        detail = _("The bot plays on no ladder now. Let it join one on its page.")
        return ProgressStep(title, StepState.FAILED, detail)
    detail = _("The matchmaker pairs new versions first.")
    return ProgressStep(title, StepState.WAITING, detail, usual.game_s)


def _failure(submission: Submission, *, own: bool) -> UploadFailure | None:
    if submission.status != Status.REJECTED:
        return None
    report = submission.report
    finding: dict[str, object] = next(iter(report.get("findings", [])), {})
    cure = str(finding.get("cure", ""))
    return UploadFailure(
        cause=str(finding.get("cause") or report.get("summary", "")),
        cure=cure,
        where=str(finding.get("where") or ""),
        lines=telling_lines(submission.log, cure) if own else [],
    )


def _sentence(steps: list[ProgressStep]) -> str:
    """Say in one sentence how far an upload is."""
    for number, step in enumerate(steps, start=1):
        if step.state != StepState.DONE:
            return _("Step %(number)s of %(steps)s: %(title)s, %(state)s.") % {
                "number": number,
                "steps": len(steps),
                "title": step.title[:1].lower() + step.title[1:],
                "state": _(step.state),
            }
    return _("All steps are done.")


def telling_lines(log: str, cure: str = "") -> list[str]:
    """Return at most `MAX_LINES` lines: evidence, complaints, or the end of the log.

    The log of a finding has its `cure` in a line, and then its evidence: one line, and
    indented ones that belong to it. Otherwise these are the lines in which a compiler
    or an interpreter complains.
    """
    lines = [line[:MAX_CHARS] for line in log.splitlines() if line.strip()]
    evidence = _evidence(lines, cure[:MAX_CHARS])
    complaints = [line for line in lines if COMPLAINT.search(line)]
    return (evidence or complaints)[:MAX_LINES] or lines[-MAX_LINES:]


def _evidence(lines: list[str], cure: str) -> list[str]:
    if not cure or cure not in lines:
        return []
    rest = lines[lines.index(cure) + 1 :]
    return [*rest[:1], *takewhile(lambda line: line.startswith("  "), rest[1:])]
