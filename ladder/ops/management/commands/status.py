"""`manage.py status`: what became of every game, and a sum that must come out."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.games import selectors as games
from ladder.games.models import Game, GameStatus
from ladder.ops.live import say
from ladder.ratings.models import Season


class Command(BaseCommand):
    help = "Show games, attempts and workers; fails if a game was lost."

    def handle(self, *args: Any, **options: Any) -> None:
        del args, options
        tally, pulse = games.tally(), games.pulse()
        for name in ("scheduled", "running", "finished", "voided", "dead", "cancelled"):
            say(f"{name:<16}{getattr(tally, name):>10}")
        say(f"{'created':<16}{tally.created:>10}")
        say(f"{'failed attempts':<16}{pulse.failed_attempts:>10}")
        say(f"{'workers':<16}{pulse.workers:>10}  with {pulse.slots} slots")
        if pulse.oldest_waiting_s is not None:
            say(f"{'oldest waiting':<16}{pulse.oldest_waiting_s:>9.0f}s")
        for worker in games.silent_workers():
            say(f"silent: {worker.name}, last heard {worker.seen_at:%F %T} UTC")
        for game in Game.objects.filter(status=GameStatus.DEAD).defer("replay"):
            say(f"dead: {game}, {game.note}")
        for season in Season.objects.select_related("ladder"):
            say(f"{season}: {season.status}, {season.head} entries in the ledger")
        if not tally.comes_out:
            raise CommandError(
                f"{tally.created} were created, but there are"
                f" {tally.created - tally.missing}: the sum does not come out."
            )
        say("The sum comes out.")
