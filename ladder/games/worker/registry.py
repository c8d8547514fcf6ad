"""The list of worker processes: they register, report, are drained, and sign off.

A worker process belongs to an installation: one data folder on one host. A drain
applies to the installation, because a restart of the process does not fix the host.
"""

import os
import platform
import socket
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import cast

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from engine.replay import VERSION as RULES
from ladder.common import private_files
from ladder.games import attempts, capabilities
from ladder.games.installed_languages import VERSION_PREFIX
from ladder.games.models import MAX_REASON_CHARS, Game, GameStatus, Worker
from ladder.games.worker.timings import Histogram
from torres.common.locks import lock
from torres.runner.languages import LANGUAGES, missing
from torres.runner.sandbox import LEVELS, Level, probe
from torres.runner.tool_versions import tool_versions

# The columns of Worker are wide enough for these.
MAX_INSTALLATION_CHARS = 80
MAX_HOST_CHARS = 80


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """How a worker describes itself when it starts."""

    versions: dict[str, str] = field(default_factory=dict)
    languages: list[str] = field(default_factory=list)
    sandbox: str = ""
    slots: int = 1
    upload_slots: int = 1
    memory_mb: int | None = None

    @property
    def offered(self) -> capabilities.Capabilities:
        slot_mb = capabilities.slot_memory_mb(self.memory_mb, self.slots)
        rules = self.versions["rules"]
        return capabilities.offers(self.languages, self.sandbox, rules, slot_mb)


def inspect_host(slots: int) -> WorkerInfo:
    """Inspect this host. Takes about a second, because it really tries the sandbox."""
    return WorkerInfo(
        versions=_versions(),
        languages=[language.name for language in LANGUAGES if not missing(language)],
        sandbox=probe(cast("Level", settings.TORRES_SANDBOX)).level,
        slots=slots,
        memory_mb=_memory_mb(),
    )


def _memory_mb() -> int:
    """Return the memory of this host or container, in MiB."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # ValueError: "max", there is no limit
            sizes.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return min(sizes) >> 20


def inspect_tools(info: WorkerInfo) -> WorkerInfo:
    """Return the description with the versions of compilers and interpreters.

    Takes a second or more, because it runs each of them once. No claim needs it.
    """
    tools = {
        f"{VERSION_PREFIX}{name}": version_line
        for name, version_line in tool_versions(info.languages).items()
    }
    return replace(info, versions=info.versions | tools)


def unlimited(slots: int) -> WorkerInfo:
    """Describe a worker that plays every game, because its players are no processes."""
    return WorkerInfo(
        versions=_versions(),
        languages=[language.name for language in LANGUAGES],
        sandbox=LEVELS[-1],
        slots=slots,
    )


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "service": version("torres-ladder"),
        "celery": version("celery"),
        "rules": RULES,
    }


def installation() -> str:
    """Return the name of this installation: "host:data folder".

    One `up` or one worker process runs in an installation at a time.
    """
    return f"{socket.gethostname()}:{settings.DATA_DIR}"[:MAX_INSTALLATION_CHARS]


def workers_of(installation_name: str) -> QuerySet[Worker]:
    """List all workers that an installation has ever had."""
    return Worker.objects.filter(name__startswith=f"{installation_name}#")


@cache
def _name(pid: int) -> str:
    """Return the name of this process, and lock its file for as long as it lives."""
    process = f"{pid}-{os.urandom(4).hex()}"
    private_files.make_data_folder(_locks_folder())
    lock(_locks_folder() / process)
    return f"{installation()}#{process}"


def _locks_folder() -> Path:
    return Path(settings.DATA_DIR) / "workers"


def live_processes() -> list[str]:
    """List the other worker processes of this installation that run now."""
    own = _name(os.getpid())
    names = [f"{installation()}#{file.name}" for file in _locks_folder().glob("*-*")]
    return [name for name in names if name != own and _is_alive(name)]


def _is_alive(worker_name: str) -> bool:
    """True if this worker of this installation runs. Remove the file of a dead one."""
    file = _locks_folder() / worker_name.rpartition("#")[2]
    if not file.exists():
        return False
    try:
        descriptor = lock(file)
    except BlockingIOError:
        return True
    file.unlink(missing_ok=True)
    os.close(descriptor)
    return False


def is_registered() -> bool:
    """True if this process has a row."""
    return Worker.objects.filter(name=_name(os.getpid())).exists()


def current_worker() -> int:
    """Return the id of this process's row; add a row if there is none yet."""
    name = _name(os.getpid())
    pk = Worker.objects.filter(name=name).values_list("pk", flat=True).first()
    return pk or register(WorkerInfo())


def register(info: WorkerInfo) -> int:
    """Add or update the row of this process, and return its id. Idempotent.

    A new process of a drained installation is drained, too. A process that was signed
    off by mistake, or for good reason before a restore, plays again.
    """
    described = {
        "host": socket.gethostname()[:MAX_HOST_CHARS],
        "versions": info.versions,
        "languages": info.languages,
        "sandbox": info.sandbox,
        "slots": info.slots,
        "upload_slots": info.upload_slots,
        "memory_mb": info.memory_mb,
        "gone_at": None,
    }
    # A worker's role cannot change these later. They are called for a new row only.
    first = {
        "role": connection.settings_dict["USER"],
        "drained": _drained_predecessors().exists,
        "drained_why": lambda: (
            _drained_predecessors().values_list("drained_why", flat=True).first() or ""
        ),
    }
    row, _ = Worker.objects.update_or_create(
        name=_name(os.getpid()),
        defaults=described,
        create_defaults=described | first,
    )
    return row.pk


def _drained_predecessors() -> QuerySet[Worker]:
    return workers_of(installation()).filter(drained=True).order_by("-pk")


def report(
    worker: int,
    *,
    load: float,
    claimed: bool,
    timings: dict[str, Histogram],
) -> bool:
    """Record that a worker is alive; return whether it may take games.

    `load` is the load average for each CPU. `claimed` is true if the worker has claimed
    a game since its last report. `timings` are its histograms since its start.
    """
    claim_time = {"claimed_at": Now()} if claimed else {}
    Worker.objects.filter(pk=worker).update(
        seen_at=Now(), load=load, timings=timings, **claim_time
    )
    return Worker.objects.filter(pk=worker, drained=False).exists()


def sign_off(worker: int, reason: str) -> int:
    """Mark a worker as gone and release its games; return how many. Idempotent."""
    Worker.objects.filter(pk=worker, gone_at__isnull=True).update(gone_at=Now())
    games = Game.objects.filter(owner=worker, status=GameStatus.RUNNING)
    return sum(
        attempts.release(game, fence, reason)
        for game, fence in games.values_list("pk", "fence")
    )


def sign_off_predecessors() -> int:
    """Sign off the workers of this installation that were killed.

    A worker that still runs, for example one of Celery beside `up`, stays as it is.
    Return how many games were released. They do not count as failures, because the end
    of the whole process says nothing about a game.

    An in-memory broker ended with its process, so the hints in it are lost. They are
    sent again at once, not only after the lifetime of a hint.
    """
    if settings.CELERY_BROKER_URL.startswith("memory"):
        hinted = Game.objects.filter(status=GameStatus.SCHEDULED, sent_at__isnull=False)
        hinted.update(sent_at=None)
    others = workers_of(installation()).exclude(name=_name(os.getpid()))
    present = others.filter(gone_at__isnull=True).values_list("pk", "name")
    return sum(sign_off(pk, "killed") for pk, name in present if not _is_alive(name))


def drain(worker: int, reason: str) -> None:
    """Let a worker finish its games and take no more games."""
    Worker.objects.filter(pk=worker).update(
        drained=True, drained_why=reason[:MAX_REASON_CHARS]
    )


def undrain(worker: int) -> int:
    """Let the worker's installation take games again; return how many processes."""
    place = Worker.objects.get(pk=worker).installation
    drained = workers_of(place).filter(drained=True)
    return drained.update(drained=False, drained_why="")
