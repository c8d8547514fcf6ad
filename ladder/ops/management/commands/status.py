"""`manage.py status`: what became of every game, and a sum that must come out."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.games import selectors as games
from ladder.games.capabilities import remedy
from ladder.games.models import Game, GameStatus
from ladder.ops.console import say
from ladder.ratings.models import Season


class Command(BaseCommand):
    help = "Show games, attempts and workers; fails if a game was lost."

    def handle(self, *args: Any, **options: Any) -> None:
        tally, pulse = games.tally(), games.service_state()
        for name in ("scheduled", "running", "finished", "voided", "dead", "cancelled"):
            say(f"{name:<16}{getattr(tally, name):>10}")
        say(f"{'created':<16}{tally.created:>10}")
        say(f"{'failed attempts':<16}{pulse.failed_attempts:>10}")
        say(f"{'workers':<16}{pulse.workers:>10}  with {pulse.slots} slots")
        if pulse.oldest_waiting_s is not None:
            say(f"{'oldest waiting':<16}{pulse.oldest_waiting_s:>9.0f}s")
        for worker in games.silent_workers():
            say(f"silent: {worker.name}, last heard {worker.seen_at:%F %T} UTC")
        _say_who_works()
        for game in Game.objects.filter(status=GameStatus.DEAD).defer("replay"):
            say(f"dead: {game}, {game.note}")
        for season in Season.objects.select_related("ladder"):
            say(f"{season}: {season.status}, {season.head} entries in the ledger")
        if not tally.adds_up:
            raise CommandError(
                f"{tally.created} were created, but there are"
                f" {tally.created - tally.missing}: the sum does not come out."
            )
        say("The sum comes out.")


def _say_who_works() -> None:
    """Show the live workers, who is drained, and which games wait for what."""
    for worker in games.live_workers():
        speed = worker.calibration_ms
        measured = "not measured" if speed is None else f"calibrated {speed:.0f} ms"
        say(
            f"worker {worker.name}: {worker.slots} slots, load {worker.load:.1f},"
            f" sandbox {worker.sandbox or 'unknown'}, {measured},"
            f" {', '.join(worker.languages) or 'languages unknown'}"
        )
    for worker in games.drained_workers():
        say(
            f"drained: {worker.name}, {worker.drained_why}; when it is mended, say"
            f" manage.py drain --undo '{worker.name}'"
        )
    roster = games.worker_pool()
    for wanted, count in games.waiting().items():
        if not roster.groups:
            say(f"waiting: {count} games, and no worker is heard; start one")
        elif lacking := roster.missing_tags(wanted):
            say(f"waiting: {count} games need {', '.join(lacking)}; {remedy(lacking)}")
