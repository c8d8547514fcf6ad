"""`manage.py chaos`: disrupt a service in many ways, then check every invariant.

1. The command starts itself again with settings that name private servers (`--inside`).
2. That process starts PostgreSQL, Redis, workers and two schedulers.
3. A monkey disrupts them while games are played.
4. Everything is repaired, open games come to an end, and the invariants are checked.
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import Error, connection

from ladder.common.arguments import decimal, whole_number
from ladder.common.commands import ServiceCommand
from ladder.games import selectors as games
from ladder.games.models import Attempt
from ladder.ops import console, invariants
from ladder.ops.chaos import monkey as chaos, servers
from ladder.ops.console import say
from ladder.ratings import rater, selectors as ratings
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season
from torres.common.pause import pause

BOTS = 12
RECOVERY_TIMEOUT_S = 180.0
GAMES_PER_REPORT = 500
LONGEST_SHOWN = 5
# If too few games were played for the next disruption, it comes after this many leases.
MAX_LEASES_PER_DISRUPTION = 1.5


class Command(ServiceCommand):
    help = (
        "Run a ladder of scripted bots on private servers, disrupt the servers and"
        " processes, and check every invariant."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--games", type=whole_number(1, 10**7), default=300, help="games to play"
        )
        parser.add_argument(
            "--workers", type=whole_number(1, 64), default=4, help="worker processes"
        )
        parser.add_argument(
            "--seed",
            type=whole_number(0, 2**63),
            default=1,
            help="determines the disruptions",
        )
        parser.add_argument(
            "--minutes",
            type=decimal(0.01, 10_000),
            help="time limit of the disruptions",
        )
        parser.add_argument(
            "--blows",
            type=whole_number(0, 10**6),
            default=40,
            help="number of disruptions",
        )
        parser.add_argument(
            "--lease", type=decimal(0.5, 3600), default=6.0, help="lease in seconds"
        )
        parser.add_argument(
            "--longest",
            type=decimal(0.5, 3600),
            default=12.0,
            help="longest freeze, cut or outage in seconds; default: %(default)s",
        )
        parser.add_argument(
            "--recovery",
            type=decimal(0.5, 3600),
            default=15.0,
            help="longest time in seconds without a finished game after a fault, on an"
            " idle machine; default: %(default)s",
        )
        parser.add_argument("--inside", help="(for internal use)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["inside"]:
            if not Path(options["inside"], "postgres").is_dir():
                raise CommandError("Do not use --inside. The command does it itself.")
            self._run_inside(Path(options["inside"]), options)
        else:
            _start_inside(options["lease"])

    def _run_inside(self, folder: Path, options: dict[str, object]) -> None:
        # The outer process has chosen the ports, because the settings name them.
        postgres = servers.Postgres(folder / "postgres", "127.0.0.1", ())
        postgres.port = int(settings.DATABASES["default"]["PORT"])
        redis = servers.Redis(folder / "redis", "127.0.0.1", ())
        redis.port = int(settings.CELERY_BROKER_URL.rsplit(":", 1)[1].split("/")[0])
        for server in (postgres, redis):
            server.folder.mkdir(exist_ok=True)
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
        ensure_default_ladder()
        chaos.populate(BOTS)
        chaos.connect()
        service.open(options["workers"])
        monkey = chaos.Monkey(service, options["seed"], options["longest"])
        started = time.monotonic()
        _disrupt(service, monkey, options)
        disrupted_s = time.monotonic() - started
        _recover(service)
        recovery_s = time.monotonic() - started - disrupted_s
        _report(monkey, disrupted_s, recovery_s)
        results = invariants.check()
        violated = [result for result in results if not console.report(result)]
        if violated:
            raise CommandError(f"{len(violated)} invariants do not hold.")
        if slow := monkey.recovery.too_long(options["recovery"]):
            waits = "; ".join(f"{seconds:.0f} s: {event}" for seconds, event in slow)
            raise CommandError(f"No game finished for too long: {waits}.")


def _start_inside(lease: float) -> None:
    with tempfile.TemporaryDirectory(prefix="torres-chaos-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "postgres").mkdir()  # shows the inner process that it is not alone
        env = os.environ | {
            "DATABASE_URL": f"postgres://torres@127.0.0.1:{servers.free_port()}/torres",
            "BROKER_URL": f"redis://127.0.0.1:{servers.free_port()}/0",
            "SECRET_KEY": secrets.token_hex(32),
            "TORRES_DATA": str(folder / "data"),
            "TORRES_LEASE_SECONDS": str(lease),
            "TORRES_GRACE_SECONDS": "2",
            "DB_POOL": "8",
        }
        command = [sys.executable, *sys.argv, "--inside", name]
        if code := subprocess.run(command, env=env, check=False).returncode:
            raise CommandError(f"The chaos run failed with exit code {code}.")


def _disrupt(
    service: chaos.ChaosService, monkey: chaos.Monkey, options: dict[str, Any]
) -> None:
    """Disrupt the service while it plays, spread evenly over the games.

    If the service does not play meanwhile, the next disruption comes after a timeout:
    its repairs may be what the service needs.
    """
    games_per_disruption = options["games"] / options["blows"]
    reported = 0
    started = time.monotonic()
    end = started + 60 * (options["minutes"] or float("inf"))
    for number in range(1, options["blows"] + 1):
        _wait_for_games(service, monkey, games_per_disruption * number, end)
        _wait_for_recovery(service, monkey)
        if time.monotonic() > end:
            break
        monkey.act(time.monotonic())
        finished = _finished_games()
        if finished - reported >= GAMES_PER_REPORT:
            reported = finished
            rate = finished / (time.monotonic() - started)
            say(f"{finished} games, {number} disruptions, {rate:.1f} games/s")
    while monkey.has_repairs() and time.monotonic() < end:
        _look(service, monkey)
        pause(0.2)
    monkey.repair(float("inf"))
    _wait_for_recovery(service, monkey)
    monkey.recovery.begin("")
    end = min(end, time.monotonic() + RECOVERY_TIMEOUT_S)
    while _finished_games() < options["games"] and time.monotonic() < end:
        service.ensure_running()
        pause(0.2)


def _wait_for_games(
    service: chaos.ChaosService, monkey: chaos.Monkey, games: float, end: float
) -> None:
    """Wait until `games` are finished, the timeout has passed, or `end` is reached."""
    timeout_s = MAX_LEASES_PER_DISRUPTION * settings.TORRES_LEASE_SECONDS
    deadline = min(end, time.monotonic() + timeout_s)
    while _look(service, monkey) < games:
        if time.monotonic() > deadline:
            return
        pause(monkey.rng.uniform(0.02, 0.2))


def _wait_for_recovery(service: chaos.ChaosService, monkey: chaos.Monkey) -> None:
    """Wait until games finish, so that the next fault does not hide a standstill."""
    deadline = time.monotonic() + RECOVERY_TIMEOUT_S
    while monkey.recovery.is_waiting(now := time.monotonic()) and now < deadline:
        _look(service, monkey)
        pause(0.05)


def _look(service: chaos.ChaosService, monkey: chaos.Monkey) -> int:
    """Restart processes, repair faults in time, and return the finished games."""
    service.ensure_running()
    monkey.repair(time.monotonic())
    finished = _finished_games()
    monkey.recovery.look(time.monotonic(), finished, can_play=monkey.can_play())
    return finished


def _finished_games() -> int:
    """Count the games that were ever finished; 0 while the database is away."""
    try:
        return Attempt.objects.filter(outcome=Attempt.Outcome.FINISHED).count()
    except Error:
        connection.close()
        return 0


def _recover(service: chaos.ChaosService) -> None:
    """Make no new matches, and wait until no game is open and all are rated."""
    ratings.unarchived().update(status=Season.Status.FROZEN)
    deadline = time.monotonic() + RECOVERY_TIMEOUT_S
    while games.tally().open and time.monotonic() < deadline:
        service.ensure_running()
        connection.close()
        pause(0.5)
    for season in ratings.unarchived():
        while rater.fold(season.pk) or ratings.open_games(season):
            if time.monotonic() > deadline:
                break


def _report(monkey: chaos.Monkey, disrupted_s: float, recovery_s: float) -> None:
    tally = games.tally()
    pulse = games.service_state()
    say("\nDisruptions:")
    for disruption, count in sorted(monkey.counts.items()):
        say(f"  {count:>4} x {disruption}")
    say("  every other worker had a clock that was wrong by one hour")
    say(f"\n{console.tally_line(tally)}")
    rate = (tally.finished + tally.voided) / disrupted_s
    say(
        f"{pulse.failed_attempts} failed attempts; {rate:.1f} games/s during"
        f" {disrupted_s:.0f} s of disruptions; at rest {recovery_s:.0f} s later"
    )
    say("\nLongest time without a finished game after each fault and each repair:")
    for line in monkey.recovery.histogram():
        say(line)
    for seconds, event in sorted(monkey.recovery.gaps, reverse=True)[:LONGEST_SHOWN]:
        say(f"  {seconds:.1f} s: {event}")
    say("\nInvariants:")
