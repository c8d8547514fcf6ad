"""`manage.py chaos`: breaks a service in every way at hand, and checks what is left."""

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from ladder.games import selectors as games
from ladder.games.models import Game, GameStatus
from ladder.ops import invariants
from ladder.ops.chaos import monkey as chaos, servers
from ladder.ops.console import say, told
from ladder.ratings import rater, selectors as ratings
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season

BOTS = 12
CALM_S = 180.0
TELL_EVERY = 500
PATIENCE = 1.5
"""Leases without enough games before the next blow comes all the same."""


class Command(BaseCommand):
    help = "Run a ladder of cheap bots on servers of its own, break them, and check."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--games", type=int, default=300)
        parser.add_argument("--workers", type=int, default=4)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--minutes", type=float, help="at most, then it checks")
        parser.add_argument("--blows", type=int, default=40)
        parser.add_argument("--lease", type=float, default=6.0, help="seconds")
        parser.add_argument("--inside", help="(used by the command itself)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["inside"]:
            self._inside(Path(options["inside"]), options)
        else:
            _outside(options["lease"])

    def _inside(self, folder: Path, options: dict[str, Any]) -> None:
        # The servers' ports were chosen outside, so that the settings name them.
        postgres = servers.Postgres(folder / "postgres", "127.0.0.1", ())
        postgres.port = int(settings.DATABASES["default"]["PORT"])
        redis = servers.Redis(folder / "redis", "127.0.0.1", ())
        redis.port = int(settings.CELERY_BROKER_URL.rsplit(":", 1)[1].split("/")[0])
        for server in (postgres, redis):
            server.folder.mkdir()
        postgres.create()
        service = chaos.ChaosService(folder, postgres, redis)
        try:
            with redis:
                self._run(service, options)
        finally:
            service.close()
            postgres.close()

    def _run(self, service: chaos.ChaosService, options: dict[str, Any]) -> None:
        call_command("migrate", verbosity=0)
        season = ensure_default_ladder().seasons.get()
        chaos.populate(BOTS)
        chaos.connect()
        service.open(options["workers"])
        monkey = chaos.Monkey(service, options["seed"])
        began = time.monotonic()
        _rage(service, monkey, options)
        raged = time.monotonic() - began
        _calm(service, season)
        _report(monkey, raged, time.monotonic() - began)
        broken = [verdict for verdict in invariants.check() if not told(verdict)]
        if broken:
            raise CommandError(f"{len(broken)} invariants do not hold.")


def _outside(lease: float) -> None:
    with tempfile.TemporaryDirectory(prefix="torres-chaos-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        env = os.environ | {
            "DATABASE_URL": f"postgres://torres@127.0.0.1:{servers.free_port()}/torres",
            "BROKER_URL": f"redis://127.0.0.1:{servers.free_port()}/0",
            "TORRES_DATA": str(folder / "data"),
            "TORRES_LEASE_SECONDS": str(lease),
            "TORRES_GRACE_SECONDS": "2",
            "DB_POOL": "8",
        }
        command = [sys.executable, *sys.argv, "--inside", name]
        if code := subprocess.run(command, env=env, check=False).returncode:
            raise CommandError(f"Chaos ended with exit code {code}.")


def _rage(
    service: chaos.ChaosService, monkey: chaos.Monkey, options: dict[str, Any]
) -> None:
    """Break something each time that a share of the games was played.

    Or, if nothing is played any more, after a while: it might break what holds it.
    """
    share, told, began = options["games"] / options["blows"], 0, time.monotonic()
    end = began + 60 * (options["minutes"] or float("inf"))
    for blow in range(options["blows"]):
        until = time.monotonic() + PATIENCE * settings.TORRES_LEASE_SECONDS
        while (played := _played()) < share * (blow + 1):
            service.keep()
            monkey.mend(time.monotonic())
            if time.monotonic() > min(until, end):
                break
            chaos.pause(monkey.rng.uniform(0.02, 0.2))
        if time.monotonic() > end:
            break
        monkey.act(time.monotonic())
        if played - told >= TELL_EVERY:
            told = played
            rate = played / (time.monotonic() - began)
            say(f"{played} games, {blow + 1} blows, {rate:.1f} games a second")
    monkey.mend(float("inf"))
    end = min(end, time.monotonic() + CALM_S)
    while _played() < options["games"] and time.monotonic() < end:
        service.keep()
        chaos.pause(0.2)


def _played() -> int:
    try:
        return Game.objects.filter(status=GameStatus.FINISHED).count()
    except Error:
        connection.close()
        return 0


def _calm(service: chaos.ChaosService, season: Season) -> None:
    """Make no new matches, and let everything that is open come to its end."""
    Season.objects.filter(pk=season.pk).update(status=Season.Status.FROZEN)
    until = time.monotonic() + CALM_S
    while games.tally().open and time.monotonic() < until:
        service.keep()
        connection.close()
        chaos.pause(0.5)
    while rater.fold(season.pk) or ratings.open_games(season):
        if time.monotonic() > until:
            break


def _report(monkey: chaos.Monkey, raged: float, all_in_all: float) -> None:
    tally, pulse = games.tally(), games.service_state()
    say("\nTried:")
    for blow, count in sorted(monkey.tried.items()):
        say(f"  {count:>4} x {blow}")
    say("  clocks wrong by an hour, in both directions, on every other worker")
    say(
        f"\n{tally.created} games created = {tally.finished} finished"
        f" + {tally.voided} voided + {tally.dead} dead"
        f" + {tally.cancelled} cancelled + {tally.open} open"
    )
    rate = (tally.finished + tally.voided) / raged
    say(f"{pulse.failed_attempts} failed attempts; {rate:.1f} games a second under")
    say(f"chaos, for {raged:.0f} s; at rest {all_in_all - raged:.0f} s later\n\nHeld:")
