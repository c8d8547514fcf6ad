"""Submissions as players: from the stored package to a bot in the worker's sandbox."""

import os
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.core.files.storage import storages

from engine.referee import Answer, Ask, ServiceFault
from ladder.bots import services
from ladder.bots.models import Submission
from ladder.bots.upload import archive, checks
from ladder.runner import compiler, languages
from ladder.runner.cache import ArtifactCache
from ladder.runner.compiler import Built
from ladder.runner.process import BotProcess
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import (
    Level,
    Program,
    Sandbox,
    SandboxUnavailable,
    open_sandbox,
    probe,
)
from ladder.runner.verdict import Verdict

KEPT = 64 << 10
STORED = checks.UploadLimits(packed=1 << 40)  # judged when it came
_opening = threading.Lock()
_open: dict[Level, Sandbox] = {}


class Notebook(Protocol):
    """Where a seat's leavings go, for its owner: `games` and trials each have one."""

    stderr: str
    verdict: dict[str, Any]


def open_player(
    submission: Submission, seat: int, limits: dict[str, int], log: Notebook
) -> "SubmissionPlayer":
    """Return the player of a seat; it starts nothing before the referee asks it to.

    Raises SandboxUnavailable where this worker is below the level that is due.
    """
    sandbox = sandbox_for(submission)
    with ExitStack() as held:
        box = built(submission, sandbox, held).box
        return SubmissionPlayer(box, sandbox, Limits(**limits), log, held.pop_all())


def sandbox_for(submission: Submission) -> Sandbox:
    """Open the sandbox that is due: the house's own code plays in the best there is."""
    level: Level = settings.TORRES_SANDBOX
    with _opening:
        if submission.bot.house and level not in _open:
            level = probe().level
        if level not in _open:
            _open[level] = open_sandbox(level)
        return _open[level]


def box_of(submission: Submission, held: ExitStack) -> Program:
    """Unpack a submission on this worker if it is not here, and return its box.

    Its files stay as long as ``held`` is open. Safe to call from many threads and
    processes, and to be killed in the middle.
    """
    entry = _store("bots").take(_name(submission), partial(_unpack, submission))
    held.callback(entry.close)
    return languages.locate(entry.files)


def built(submission: Submission, sandbox: Sandbox, held: ExitStack) -> Built:
    """Return a submission ready to run here; its log is empty if it was before.

    Its files stay as long as ``held`` is open. Kept by submission and not by content,
    so that owners share nothing. Raises BuildFailed, ServiceFault, and
    SandboxUnavailable where a compiler is missing.
    """
    box = box_of(submission, held)
    if packages := languages.missing(languages.BY_NAME[box.language]):
        raise SandboxUnavailable(
            f"This worker cannot run {box.language}. Say"
            f" apt-get install {' '.join(packages)} there."
        )
    if not box.compile:
        return Built(box, "")
    logs = [""]

    def make(target: Path) -> None:
        logs.append(compiler.build(box, sandbox, target).log)

    entry = _store("built").take(_name(submission), make)
    held.callback(entry.close)
    return Built(replace(box, folder=entry.files, compile=()), logs[-1])


def _store(name: str) -> ArtifactCache:
    most = settings.TORRES_CACHE_MB << 20
    return ArtifactCache(settings.DATA_DIR / name, services.scratch(), most)


def _name(submission: Submission) -> str:
    return f"{submission.pk}-{submission.digest[:16]}"


def _unpack(submission: Submission, folder: Path) -> None:
    with storages["bots"].open(submission.package) as package:
        source = archive.unpack(
            package, "bot.zip", folder, suffixes=languages.suffixes(), limits=STORED
        )
    if source.digest != submission.digest:
        raise ServiceFault(f"the stored package of {submission} is not what was sent")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    box = languages.locate(folder)
    if box.language == "executable":
        (folder / box.entry).chmod(0o755)  # modes are not part of an upload


class SubmissionPlayer:
    """A bot whose stderr and verdict go to its owner's notebook when it has ended."""

    def __init__(
        self,
        box: Program,
        sandbox: Sandbox,
        limits: Limits,
        log: Notebook,
        held: ExitStack,
    ) -> None:
        handle, name = tempfile.mkstemp(dir=services.scratch(), prefix="stderr-")
        os.close(handle)
        self._stderr, self._log, self._ended = Path(name), log, False
        self._bot = BotProcess(box, sandbox, limits, log=self._stderr)
        self._held = held

    def start(self, hello: dict[str, Any]) -> None:
        self._bot.start(hello)

    def decide(self, ask: Ask) -> Answer:
        return self._bot.decide(ask)

    def forfeit(self, reason: str, detail: str) -> None:
        self._bot.forfeit(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        self._bot.end(scores, ranks, reason)

    def kill(self) -> None:
        self._bot.kill()
        if self._ended:
            return
        self._ended = True
        self._held.close()
        self._log.stderr = _text(self._stderr.read_bytes()[-KEPT:])
        self._stderr.unlink()
        if self._bot.verdict is not None:
            self._log.verdict = _told(self._bot.verdict)


def _told(verdict: Verdict) -> dict[str, Any]:
    """Write a verdict as JSON; its stderr is kept apart."""
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


def _text(said: bytes) -> str:
    # PostgreSQL stores no NUL.
    return said.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
