"""Who works here: worker processes report, are counted, and are drained."""

import os
import platform
import socket
from dataclasses import dataclass, field
from functools import cache

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from ladder.games import attempts
from ladder.games.models import Game, GameStatus, Worker


@dataclass(frozen=True, slots=True)
class Card:
    """What a worker says of itself when it starts."""

    versions: dict[str, str] = field(default_factory=dict)
    languages: list[str] = field(default_factory=list)
    sandbox: str = ""
    slots: int = 1


def station() -> str:
    """Name this installation on this host: one `up`, or one worker, runs in it."""
    return f"{socket.gethostname()}:{settings.DATA_DIR}"[:80]


@cache
def _name(pid: int) -> str:
    return f"{station()}#{pid}-{os.urandom(4).hex()}"


def here() -> int:
    """Return the id of this process's row, adding it where it is not there yet."""
    return register(Card(versions={"python": platform.python_version()}))


def register(card: Card) -> int:
    """Add this process, or bring its row up to date. Safe to call twice."""
    row, _ = Worker.objects.update_or_create(
        name=_name(os.getpid()),
        defaults={
            "host": socket.gethostname()[:80],
            "versions": card.versions,
            "languages": card.languages,
            "sandbox": card.sandbox,
            "slots": card.slots,
        },
    )
    return row.pk


def report(worker: int, *, load: float, claimed: bool) -> bool:
    """Say that the worker lives; True if it may take games (it is not drained)."""
    values = {"claimed_at": Now()} if claimed else {}
    Worker.objects.filter(pk=worker).update(seen_at=Now(), load=load, **values)
    return not Worker.objects.filter(pk=worker, drained=True).exists()


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
    dead = Worker.objects.filter(
        name__startswith=f"{station()}#", gone_at__isnull=True
    ).exclude(name=_name(os.getpid()))
    return sum(leave(worker, "killed") for worker in dead.values_list("pk", flat=True))


@transaction.atomic
def drain(worker: int, why: str) -> None:
    """Let a worker finish what it plays, and take nothing more."""
    Worker.objects.filter(pk=worker).update(drained=True, drained_why=why[:200])
