"""Who works here: worker processes report, are counted, and are drained."""

import os
import platform
import socket
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from engine.replay import VERSION as RULES
from ladder.games import attempts, capabilities
from ladder.games.models import Game, GameStatus, Worker
from ladder.runner.languages import LANGUAGES, missing
from ladder.runner.sandbox import LEVELS, probe


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker says of itself when it starts."""

    versions: dict[str, str] = field(default_factory=dict)
    languages: list[str] = field(default_factory=list)
    sandbox: str = ""
    slots: int = 1

    @property
    def offered(self) -> capabilities.Capabilities:
        return capabilities.offers(self.languages, self.sandbox, self.versions["rules"])


def survey(slots: int) -> WorkerInfo:
    """Inspect this host. Takes about a second, because it really tries the sandbox."""
    return WorkerInfo(
        versions=_versions(),
        languages=[language.name for language in LANGUAGES if not missing(language)],
        sandbox=probe().level,
        slots=slots,
    )


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


def station() -> str:
    """Name this installation on this host: one `up`, or one worker, runs in it."""
    return f"{socket.gethostname()}:{settings.DATA_DIR}"[:80]


@cache
def _name(pid: int) -> str:
    return f"{station()}#{pid}-{os.urandom(4).hex()}"


def here() -> int:
    """Return the id of this process's row, adding it where it is not there yet."""
    name = _name(os.getpid())
    known = Worker.objects.filter(name=name).values_list("pk", flat=True).first()
    return known or register(WorkerInfo())


def register(card: WorkerInfo) -> int:
    """Add this process, or bring its row up to date. Safe to call twice.

    At a station that was drained a new process is drained, too: starting it again
    mends no host.
    """
    said = {
        "host": socket.gethostname()[:80],
        "versions": card.versions,
        "languages": card.languages,
        "sandbox": card.sandbox,
        "slots": card.slots,
    }
    row, new = Worker.objects.update_or_create(name=_name(os.getpid()), defaults=said)
    drained = at(station()).filter(drained=True).order_by("-pk")
    if new and (last := drained.first()):
        drain(row.pk, last.drained_why)
    return row.pk


def report(worker: int, *, load: float, claimed: bool) -> bool:
    """Say that the worker lives; True if it may take games (it is not drained)."""
    values = {"claimed_at": Now()} if claimed else {}
    Worker.objects.filter(pk=worker).update(seen_at=Now(), load=load, **values)
    return Worker.objects.filter(pk=worker, drained=False).exists()


def at(place: str) -> QuerySet[Worker]:
    """List all workers that a station ever had."""
    return Worker.objects.filter(name__startswith=f"{place}#")


def leave(worker: int, reason: str) -> int:
    """Sign a worker off; its games are handed back at once. Safe to call twice."""
    Worker.objects.filter(pk=worker, gone_at__isnull=True).update(gone_at=Now())
    games = Game.objects.filter(owner=worker, status=GameStatus.RUNNING)
    return sum(
        attempts.release(game, fence, reason)
        for game, fence in games.values_list("pk", "fence")
    )


def bury_predecessors() -> int:
    """Sign off the workers of this station that died without a word.

    Only for a process that holds the station's lock: nobody else can be alive then.
    Their games are handed back uncounted, because whoever kills the whole process
    tree says nothing about the game. Returns how many games are free again.
    """
    dead = at(station()).filter(gone_at__isnull=True).exclude(name=_name(os.getpid()))
    return sum(leave(worker, "killed") for worker in dead.values_list("pk", flat=True))


@transaction.atomic
def drain(worker: int, why: str) -> None:
    """Let a worker finish what it plays, and take nothing more."""
    Worker.objects.filter(pk=worker).update(drained=True, drained_why=why[:200])


def undrain(worker: int) -> int:
    """Let a worker's station take games again; return how many processes that are."""
    name = Worker.objects.values_list("name", flat=True).get(pk=worker)
    drained = at(station_of(name)).filter(drained=True)
    return drained.update(drained=False, drained_why="")


def station_of(name: str) -> str:
    """Return the station in a worker's name."""
    return name.rpartition("#")[0]
