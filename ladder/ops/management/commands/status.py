"""`manage.py status`: the totals of all games, the workers, and what games wait for."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from ladder.bots import selectors as bots
from ladder.common.commands import ServiceCommand
from ladder.dispatch import retention
from ladder.games import selectors as games
from ladder.games.capabilities import remedy
from ladder.games.models import Game, GameStatus
from ladder.games.shares import reserve
from ladder.games.worker import registry
from ladder.health import signs
from ladder.moderation.models import ServicePart, StoppedUnit
from ladder.ops.console import say
from ladder.ratings.models import Season
from ladder.service import service_parts
from ladder.tournaments import selectors as tournaments

# Rows that are examined for each kind of what the service deletes.
DUE_LIMIT = 1000
MAX_DEAD_SHOWN = 20
STATUSES = ("scheduled", "running", "finished", "voided", "dead", "cancelled")


class Command(ServiceCommand):
    help = (
        "Show games, attempts, workers, and what is stopped. Exit code 1 if a game was"
        " lost, something is stopped, or a part of the service does not run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--totals",
            action="store_true",
            help="fail only if the database cannot be read or a game was lost; for the"
            " health checks of single containers",
        )
        parser.add_argument(
            "--worker",
            action="store_true",
            help="show nothing, and fail if no worker of this host and data folder"
            " reports; for the health check of its container",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["worker"]:
            _check_own_workers()
            return
        tally = games.tally()
        pulse = games.service_state()
        for name in STATUSES:
            say(f"{name:<16}{getattr(tally, name):>10}")
        say(f"{'created':<16}{tally.created:>10}")
        say(f"{'failed attempts':<16}{pulse.failed_attempts:>10}")
        say(f"{'workers':<16}{pulse.workers:>10}  with {pulse.slots} slots")
        if pulse.oldest_waiting_s is not None:
            say(f"{'oldest waiting':<16}{pulse.oldest_waiting_s:>9.0f}s")
        for worker in games.silent_workers():
            say(f"silent: {worker.name}, last heartbeat {worker.seen_at:%F %T} UTC")
        _show_live_workers()
        _show_drained_workers()
        _show_waiting_games()
        _show_shares()
        _show_unchecked_uploads()
        _show_retention()
        _show_dead_games(tally.dead)
        _show_seasons()
        for part in ServicePart.objects.order_by("name"):
            silent = "  (silent)" if service_parts.is_silent(part) else ""
            say(f"{part.name:<16}{part.process}{silent}")
        failures = [*_parts_that_do_not_run(), *_stopped_units()]
        if tally.missing:
            raise CommandError(
                f"The totals do not add up: {tally.created} games were created,"
                f" {tally.missing} are missing. Run manage.py audit when no game runs."
            )
        say("The totals add up.")
        if failures and not options["totals"]:
            raise CommandError("\n".join(failures))


def _check_own_workers() -> None:
    own = registry.installation()
    if not games.reporting_workers().filter(name__startswith=f"{own}#").exists():
        raise CommandError(f"No worker of {own} reports. Read its log, and restart it.")


def _parts_that_do_not_run() -> list[str]:
    """Return what should run but does not, with what to do."""
    failures = [
        f"{sign.problem} {sign.advice}"
        for sign in (signs.dispatcher(), signs.log_key(), signs.games_by_hand())
        if not sign.is_good
    ]
    if games.waiting() and not games.live_workers().exists():
        failures.append("Games wait, but no worker is running. Start one.")
    return failures


def _stopped_units() -> list[str]:
    failures = [
        f"Stopped since {unit.since:%F %T} UTC: {unit}: {unit.error}. {unit.advice}"
        for unit in StoppedUnit.objects.all()
    ]
    for fixture in tournaments.fixtures_for_operators():
        dead = ", ".join(str(game) for game in tournaments.dead_games(fixture))
        failures.append(
            f"Stopped: round {fixture.round}, table {fixture.table + 1} of tournament"
            f" {fixture.tournament} waits, because the service failed to play it."
            f" Repair the cause, then run manage.py operator rerun for games {dead}, or"
            f" manage.py operator give_up {fixture.pk} to decide without them."
        )
    return failures


def _show_seasons() -> None:
    for season in Season.objects.select_related("ladder"):
        say(f"{season}: {season.status}, {season.head} entries in the ledger")


def _show_dead_games(total: int) -> None:
    """Show the newest dead games, and how many more there are."""
    dead = Game.objects.filter(status=GameStatus.DEAD).order_by("-pk")
    for pk, note in dead.values_list("pk", "note")[:MAX_DEAD_SHOWN]:
        say(f"dead: game {pk}, {note}")
    if total > MAX_DEAD_SHOWN:
        say(f"dead: {total - MAX_DEAD_SHOWN} more; the admin lists them")


def _show_live_workers() -> None:
    for worker in games.live_workers():
        speed = worker.calibration_ms
        measured = "not measured" if speed is None else f"calibrated {speed:.0f} ms"
        languages = ", ".join(worker.languages) or "languages unknown"
        say(
            f"worker {worker.name}: {worker.slots} slots, load {worker.load:.1f},"
            f" sandbox {worker.sandbox or 'unknown'}, {measured}, {languages}"
        )


def _show_drained_workers() -> None:
    for worker in games.drained_workers():
        say(
            f"drained: {worker.name}, {worker.drained_why}; when it is repaired, run"
            f" manage.py operator undrain '{worker.name}' --why REASON"
        )


def _show_unchecked_uploads() -> None:
    uploads = bots.service_failed()
    if count := uploads.count():
        newest = ", ".join(str(upload) for upload in uploads[:5])
        say(
            f"not checked: {count} uploads were rejected because the service failed"
            f" (the newest: {newest}). Read the logs of the workers, then run"
            " manage.py operator validate for each."
        )


def _show_retention() -> None:
    """Show how much is stored of what the service deletes in time."""
    for rule in retention.rules():
        due = rule.due(DUE_LIMIT)
        many = "or more " if due == DUE_LIMIT else ""
        waits = f", {due} {many}wait for their deletion" if due else ""
        say(f"kept: {rule.stored()} {rule.name}{waits}")


def _show_shares() -> None:
    """Show how many slots the games of each budget hold."""
    workers = games.worker_pool()
    names = {"0": "nobody"}
    held: Counter[str] = Counter()
    for row in games.open_games():
        held[row.budget] += row.games * row.hold_slots
    for budget in sorted(filter(None, held)):
        kind, payer, *more = budget.split()
        if payer not in names:
            user = User.objects.filter(pk=payer).first()
            names[payer] = user.username if user else f"account {payer}"
        say(
            f"shares: {' '.join([*more, kind])} games of {names[payer]} hold"
            f" {held[budget]} of {workers.slots} slots; {reserve(workers.slots)} are"
            " kept for ladders that have games"
        )


def _show_waiting_games() -> None:
    """Show which scheduled games no worker can play, and what would help."""
    pool = games.worker_pool()
    for wanted, count in games.waiting().items():
        if not pool.groups:
            say(f"waiting: {count} games, but no worker is running; start one")
        elif lacking := pool.missing_tags(wanted):
            say(f"waiting: {count} games need {', '.join(lacking)}; {remedy(lacking)}")
