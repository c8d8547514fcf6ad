"""`manage.py status`: the totals of all games, the workers, and what games wait for."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.bots import selectors as bots
from ladder.games import selectors as games
from ladder.games.capabilities import remedy
from ladder.games.models import Game, GameStatus
from ladder.ops.console import say
from ladder.ratings.models import Season

STATUSES = ("scheduled", "running", "finished", "voided", "dead", "cancelled")


class Command(BaseCommand):
    help = "Show games, attempts and workers. Exit code 1 if a game was lost."

    def handle(self, *args: Any, **options: Any) -> None:
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
        _show_unchecked_uploads()
        for game in Game.objects.filter(status=GameStatus.DEAD).defer("replay"):
            say(f"dead: {game}, {game.note}")
        for season in Season.objects.select_related("ladder"):
            say(f"{season}: {season.status}, {season.head} entries in the ledger")
        if tally.missing:
            raise CommandError(
                f"The totals do not add up: {tally.created} games were created,"
                f" {tally.missing} are missing. Run manage.py audit when no game runs."
            )
        say("The totals add up.")


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
            f" manage.py drain --undo '{worker.name}'"
        )


def _show_unchecked_uploads() -> None:
    uploads = bots.service_failed()
    if count := uploads.count():
        newest = ", ".join(str(upload) for upload in uploads[:5])
        say(
            f"not checked: {count} uploads were rejected because the service failed"
            f" (the newest: {newest}). Read the logs of the workers, then choose"
            ' "Validate again" in the admin.'
        )


def _show_waiting_games() -> None:
    """Show which scheduled games no worker can play, and what would help."""
    pool = games.worker_pool()
    for wanted, count in games.waiting().items():
        if not pool.groups:
            say(f"waiting: {count} games, but no worker is running; start one")
        elif lacking := pool.missing_tags(wanted):
            say(f"waiting: {count} games need {', '.join(lacking)}; {remedy(lacking)}")
