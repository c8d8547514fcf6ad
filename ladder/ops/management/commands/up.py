"""`manage.py up`: the whole service in one process tree.

Killed at any moment it loses nothing: the next start goes on with the same data.
"""

import signal
import threading
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ladder.accounts import tokens
from ladder.bots import house_bots, submissions
from ladder.celery import app
from ladder.common.locks import locked
from ladder.common.scratch import clear_scratch_folder
from ladder.games import selectors as games
from ladder.games.models import Game, GameStatus
from ladder.games.worker import registry
from ladder.ops import console
from ladder.ops.embedded import EmbeddedDispatcher, EmbeddedWeb, EmbeddedWorker
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder

PORT, LAST_PORT = 8000, 65_535
LOOK_S = 0.5
BOARD_EVERY = 10


class Command(BaseCommand):
    help = "Run web server, scheduler and workers until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--port", type=_port, help=f"{PORT}, or a free one where it is taken"
        )
        parser.add_argument("--slots", type=int, default=2, help="games at once")
        parser.add_argument("--demo", action="store_true", help="print a token, too")
        parser.add_argument("--once", action="store_true", help="end after some games")
        parser.add_argument("--games", type=int, default=30, help="so many more")

    def handle(self, *args: Any, **options: Any) -> None:
        with locked(settings.DATA_DIR / "up.lock") as mine:
            if not mine:
                raise CommandError("It is already running with this data folder.")
            self._run(options)

    def _run(self, options: dict[str, Any]) -> None:
        stop = _stop_on_signals()
        call_command("migrate", verbosity=0)
        clear_scratch_folder()
        submissions.end_abandoned_claims()
        house_bots.ensure_house_bots()
        ladder = ensure_default_ladder()
        if freed := registry.sign_off_predecessors():
            console.say(f"{freed} games of a killed service are played again")
        rater.fold(ladder.seasons.latest("number").pk)
        web = _web(options["host"], options["port"])
        worker, scheduler = EmbeddedWorker(app, options["slots"]), EmbeddedDispatcher()
        parts: list[EmbeddedWeb | EmbeddedWorker | EmbeddedDispatcher] = [
            web,
            worker,
            scheduler,
        ]
        for part in parts:
            part.start()
        console.say(f"LADDER={web.address}")
        if options["demo"]:
            console.say(f"TOKEN={tokens.token_for('demo')}")
        try:
            wanted = options["games"] if options["once"] else None
            _show(ladder, web, stop, wanted)
        finally:
            for part in reversed(parts):
                part.close()
            connection.close()
        self._goodbye(ladder)

    def _goodbye(self, ladder: Ladder) -> None:
        season = ladder.seasons.latest("number")
        while rater.fold(season.pk):
            pass
        for line in ["", *console.leaderboard_lines(season)]:
            console.say(line)
        tally = games.tally()
        console.say(
            f"\n{tally.created} games created = {tally.finished} finished"
            f" + {tally.voided} voided + {tally.dead} dead"
            f" + {tally.cancelled} cancelled + {tally.open} open"
        )
        if not tally.adds_up:
            raise CommandError("The sum does not come out: a game was lost.")


def _port(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) > LAST_PORT:
        raise ArgumentTypeError(f"{word} is no port: 0 to {LAST_PORT}")
    return int(word)


def _web(host: str, port: int | None) -> EmbeddedWeb:
    """Open the port that was asked for, else the usual one, else any that is free."""
    try:
        return EmbeddedWeb(host, PORT if port is None else port)
    except OSError as refused:
        if port is None:
            return EmbeddedWeb(host, 0)
        raise CommandError(
            f"Port {port} of {host} can't be had: {refused}. Name another one with"
            " --port (make demo PORT=…), or none."
        ) from refused


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _show(
    ladder: Ladder, web: EmbeddedWeb, stop: threading.Event, wanted: int | None
) -> None:
    """Print games as they finish, and the leaderboard now and then."""
    seen = set(_finished())
    start = len(seen)
    while not stop.is_set():
        fresh = [pk for pk in _finished() if pk not in seen]
        for game in Game.objects.defer("replay").filter(pk__in=fresh).order_by("pk"):
            console.say(console.game_line(game))
            seen.add(game.pk)
            if (len(seen) - start) % BOARD_EVERY == 0:
                for line in console.leaderboard_lines(ladder.seasons.latest("number")):
                    console.say(line)
        connection.close()
        web.start()
        if wanted is not None and len(seen) - start >= wanted:
            return
        stop.wait(LOOK_S)


def _finished() -> list[int]:
    done = Game.objects.filter(
        status__in=[GameStatus.FINISHED, GameStatus.VOIDED], match__embargo=False
    )
    return list(done.values_list("pk", flat=True))
