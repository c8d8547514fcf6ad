"""Submissions as players: from the stored package to a bot in this worker's sandbox.

The worker keeps unpacked and built submissions in artifact caches, one entry for each
submission. Owners share no entries, also if their files are the same.
"""

import atexit
import os
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import cast

from django.conf import settings
from django.core.files.storage import storages

from engine.referee import Answer, Ask, Hello, ServiceFault
from ladder.bots.models import Submission
from ladder.common.scratch import scratch_folder
from torres.common.shorten import shorten_file
from torres.runner import compiler, languages
from torres.runner.cache import ArtifactCache
from torres.runner.compiler import Built
from torres.runner.process import BotProcess
from torres.runner.protocol import STDERR_TAIL_BYTES, Limits
from torres.runner.sandbox import (
    Level,
    Program,
    Sandbox,
    SandboxUnavailable,
    open_sandbox,
    probe,
)
from torres.runner.verdict import SeatOutput, Verdict
from torres.upload import archive, checks

# The size was checked when the package was uploaded, perhaps with an older limit.
STORED_PACKAGE_LIMITS = checks.UploadLimits(packed=1 << 40)

_sandboxes: dict[Level, Sandbox] = {}
_sandboxes_lock = threading.Lock()


def open_player(
    submission: Submission,
    limits: dict[str, int],
    *,
    strict_clock: bool = False,
    niceness: int = 0,
) -> "SubmissionPlayer":
    """Return a player for one game. The bot's process starts with the game, not here.

    `strict_clock` is that of `BotProcess`, and `niceness` that of `Program`.

    Raises SandboxUnavailable if this worker does not offer the required sandbox level
    or has no tools for the language, BuildFailed, and ServiceFault.
    """
    sandbox = sandbox_for(submission)
    with ExitStack() as resources:
        program = built(submission, sandbox, resources).program
        return SubmissionPlayer(
            replace(program, niceness=niceness),
            sandbox,
            Limits(**limits),
            resources.pop_all(),
            strict_clock=strict_clock,
        )


def sandbox_for(submission: Submission) -> Sandbox:
    """Return the sandbox in which a submission has to run.

    The code of house bots is trusted, so that they run at the best level that this
    worker offers and that costs no time. Other bots need the configured level:
    otherwise this function raises SandboxUnavailable.
    """
    level = cast("Level", settings.TORRES_SANDBOX)
    if not submission.bot.house:
        return sandbox_at(level)
    return sandbox_at("full" if level == "isolated" else level, or_best=True)


def sandbox_at(level: Level, *, or_best: bool = False) -> Sandbox:
    """Return the sandbox of a level. Raises SandboxUnavailable.

    With `or_best` it is the best one that this worker offers, if it has not this one.
    """
    with _sandboxes_lock:
        if or_best and level not in _sandboxes:
            level = probe().level
        if level not in _sandboxes:
            _sandboxes[level] = open_sandbox(level)
        return _sandboxes[level]


def close_sandboxes() -> None:
    """Remove what this process's sandboxes hold on the machine. No bot may run.

    That is only certain when the process exits: a worker that stops still waits for
    validations after its last game.
    """
    with _sandboxes_lock:
        sandboxes = list(_sandboxes.values())
        _sandboxes.clear()
    with ExitStack() as stack:
        for sandbox in sandboxes:
            stack.callback(sandbox.close)


atexit.register(close_sandboxes)


def program_of(submission: Submission, resources: ExitStack) -> Program:
    """Return the program of a submission, and unpack its package if the cache lacks it.

    The files stay as long as ``resources`` is open. Many threads and processes may call
    this at once, and may be killed at any point.
    """
    cache = _cache("bots")
    entry = cache.take(_entry_name(submission), partial(_unpack, submission))
    resources.callback(entry.close)
    try:
        return languages.locate(entry.files)
    except languages.EntryNotFound as why:
        # The upload had an entry, and the message names a folder of this host.
        raise ServiceFault(f"the entry of {submission} is gone: {why}") from why


def built(submission: Submission, sandbox: Sandbox, resources: ExitStack) -> Built:
    """Return a submission that is ready to run on this worker.

    The log is empty if the language needs no compiler or the cache has the result. The
    files stay as long as ``resources`` is open. Raises BuildFailed, ServiceFault, and
    SandboxUnavailable if a program that the language needs is not installed.
    """
    program = program_of(submission, resources)
    packages = languages.missing(languages.BY_NAME[program.language])
    if packages:
        raise SandboxUnavailable(
            f"This worker cannot run {program.language}. Run"
            f" apt-get install {' '.join(packages)} there."
        )
    if not program.compile:
        return Built(program, "")
    logs = [""]

    def build(target: Path) -> None:
        logs.append(compiler.build(program, sandbox, target).log)

    entry = _cache("built").take(_entry_name(submission), build)
    resources.callback(entry.close)
    return Built(replace(program, folder=entry.files, compile=()), logs[-1])


class SubmissionPlayer:
    """A bot in a sandbox, for one game, and what it leaves behind."""

    def __init__(
        self,
        program: Program,
        sandbox: Sandbox,
        limits: Limits,
        resources: ExitStack,
        *,
        strict_clock: bool,
    ) -> None:
        handle, name = tempfile.mkstemp(dir=scratch_folder(), prefix="stderr-")
        os.close(handle)
        self._stderr = Path(name)
        self._bot = BotProcess(
            program, sandbox, limits, log=self._stderr, strict_clock=strict_clock
        )
        self._resources = resources
        self._ended = False
        self._output = SeatOutput()

    def start(self, hello: Hello) -> None:
        self._bot.start(hello)

    def decide(self, ask: Ask) -> Answer:
        return self._bot.decide(ask)

    def forfeit(self, reason: str, detail: str) -> None:
        self._bot.forfeit(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        self._bot.end(scores, ranks, reason)

    def kill(self) -> None:
        """End the bot at once; idempotent. Any thread may call it."""
        self._bot.kill()
        if self._ended:
            return
        self._ended = True
        self._resources.close()
        self._output = SeatOutput(
            stderr=_without_nul(self._read_stderr()),
            verdict=_as_json(self._bot.verdict) if self._bot.verdict else {},
            started=self._bot.started,
            evidence=asdict(self._bot.evidence()) if self._bot.started else {},
        )
        self._stderr.unlink()

    def output(self) -> SeatOutput:
        """Return what the bot left behind. It is empty until the bot was killed."""
        return self._output

    def _read_stderr(self) -> str:
        with self._stderr.open("rb") as file:
            return shorten_file(file, STDERR_TAIL_BYTES)


def _cache(name: str) -> ArtifactCache:
    size = settings.TORRES_CACHE_MB << 20
    return ArtifactCache(settings.DATA_DIR / name, scratch_folder(), size)


def _entry_name(submission: Submission) -> str:
    return f"{submission.pk}-{submission.digest[:16]}"


def _unpack(submission: Submission, folder: Path) -> None:
    with storages["bots"].open(submission.package) as package:
        try:
            source = archive.unpack(
                package,
                "bot.zip",
                folder,
                suffixes=languages.suffixes(),
                limits=STORED_PACKAGE_LIMITS,
            )
        except checks.BadArchive as why:
            raise ServiceFault(
                f"the stored package of {submission} cannot be opened: {why}"
            ) from why
    if source.digest != submission.digest:
        raise ServiceFault(
            f"the stored package of {submission} differs from what was uploaded;"
            " restore the file from a backup"
        )
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    program = languages.locate(folder)
    if program.language == "executable":
        # File modes are not part of an upload, so that the entry got 0644 above.
        (folder / program.entry).chmod(0o755)


def _as_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as JSON, without its stderr, which has its own column."""
    charge = verdict.charge
    return {
        "reason": verdict.reason,
        "detail": verdict.detail,
        "decision": verdict.decision,
        "ply": verdict.ply,
        "sent": _text(verdict.sent),
        "received": _text(verdict.received),
        "clock": {"move_ms": verdict.move_ms, "bank_ms": verdict.bank_ms},
        "charge": asdict(charge) if charge else None,
        "exit": str(verdict.exit) if verdict.exit else None,
        "memory_peak": verdict.memory_peak,
    }


def _text(data: bytes) -> str:
    """Decode the output of a bot."""
    return _without_nul(data.decode(errors="replace"))


def _without_nul(text: str) -> str:
    """Replace NUL, which PostgreSQL does not store."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
