"""`manage.py up`: run the whole service as one tree of processes.

The service may be killed at any moment: the next start continues with the same data and
no game is lost.
"""

import os
import threading
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from ladder.accounts import tokens
from ladder.accounts.sign_up_mode import SignUpMode
from ladder.bots import house_bots, submissions
from ladder.celery import app
from ladder.common import statement_limits
from ladder.common.arguments import whole_number
from ladder.common.commands import ServiceCommand, stop_on_signals
from ladder.common.scratch import clear_scratch_folder
from ladder.games import selectors as games
from ladder.games.worker import registry
from ladder.ops import console
from ladder.ops.embedded import EmbeddedPart, EmbeddedWeb, EmbeddedWorker, threads
from ladder.ops.new_results import NewResults
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from torres.common.locks import locked
from torres.runner.sandbox import Level, probe

DEFAULT_PORT = 8000
MAX_PORT = 65_535
MAX_SLOTS = 256
MAX_GAMES = 10**9
POLL_INTERVAL_S = 1.0
GAMES_PER_LEADERBOARD = 10

Supervised = EmbeddedWeb | EmbeddedPart


class Command(ServiceCommand):
    help = "Run the web server, the scheduler and a worker until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="the address to listen on"
        )
        parser.add_argument(
            "--port",
            type=_port,
            help=f"default: {DEFAULT_PORT}, or a free port if that one is in use",
        )
        parser.add_argument(
            "--slots",
            type=whole_number(1, MAX_SLOTS),
            default=2,
            help="games played at the same time",
        )
        parser.add_argument(
            "--demo",
            action="store_true",
            help="create and print an API token, and let everybody sign up unless"
            " TORRES_SIGN_UP says otherwise",
        )
        parser.add_argument(
            "--once", action="store_true", help="stop after the number of --games"
        )
        parser.add_argument(
            "--games",
            type=whole_number(0, MAX_GAMES),
            default=30,
            help="with --once: games to play",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with locked(settings.DATA_DIR / "up.lock") as acquired:
            if not acquired:
                raise CommandError(
                    f"A service is already running with {settings.DATA_DIR}. Stop it,"
                    " or set TORRES_DATA to another folder."
                )
            self._run(options)

    def _run(self, options: dict[str, Any]) -> None:
        stop = stop_on_signals()
        clear_scratch_folder()
        probing = _probe_meanwhile()
        ladder = _prepare_database()
        if options["demo"]:
            # The process of the web server inherits it.
            os.environ.setdefault("TORRES_SIGN_UP", SignUpMode.OPEN)
        web = _open_web(options["host"], options["port"])
        worker = EmbeddedWorker(app, options["slots"])
        others = threads(web)
        parts: list[Supervised | EmbeddedWorker] = [web, worker, *others]
        web.start()
        banner = _say_banner(web.address, demo=options["demo"])
        try:
            probing.join()
            worker.start()
            worker.wait_until_registered()  # the first tick schedules games for it
            for other in others:
                other.start()
            limit = options["games"] if options["once"] else None
            _show(ladder, (web, *others), stop, limit, banner)
            console.say_or_drop(
                "Stopping. Games that run are played again at the next start."
            )
        finally:
            for part in reversed(parts):
                part.stop()
            for part in reversed(parts):
                part.close()
            connection.close()
        self._summarize(ladder)

    def _summarize(self, ladder: Ladder) -> None:
        """Rate the last games, then print the leaderboard and the totals."""
        season = ladder.seasons.latest("number")
        while rater.fold(season.pk):
            pass
        for line in ["", *console.leaderboard_lines(season)]:
            console.say_or_drop(line)
        tally = games.tally()
        console.say_or_drop(f"\n{console.tally_line(tally)}")
        if tally.missing:
            raise CommandError(
                f"The totals do not add up: {tally.missing} games are missing."
            )


def _say_banner(address: str, *, demo: bool) -> list[str]:
    """Print and return the lines with the address, and with a token for a demo."""
    banner = [f"LADDER={address}"]
    if demo:
        banner.append(f"TOKEN={tokens.renew_token('demo', 'make demo')}")
    for line in banner:
        console.say(line)
    return banner


def _prepare_database() -> Ladder:
    """Bring the database up to date after a stop or a kill; return the ladder."""
    with statement_limits.lifted():
        call_command("migrate", verbosity=0)
    submissions.end_abandoned_claims()
    house_bots.ensure_house_bots()
    ladder = ensure_default_ladder()
    if released := registry.sign_off_predecessors():
        console.say(f"{released} games of a killed service will be played again")
    rater.fold(ladder.seasons.latest("number").pk)
    return ladder


def _probe_meanwhile() -> threading.Thread:
    """Try the sandbox in a thread, which takes a second; the worker needs the result.

    If the attempt fails, the worker tries again and reports the failure.
    """
    thread = threading.Thread(target=_probe, name="sandbox probe", daemon=True)
    thread.start()
    return thread


def _probe() -> None:
    with suppress(Exception):
        probe(cast("Level", settings.TORRES_SANDBOX))


def _port(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) > MAX_PORT:
        raise ArgumentTypeError(f"{word} is not a port. Use 0 to {MAX_PORT}.")
    return int(word)


def _open_web(host: str, port: int | None) -> EmbeddedWeb:
    """Open the given port or, without one, the default port or any free port."""
    try:
        return EmbeddedWeb(host, DEFAULT_PORT if port is None else port)
    except (OSError, ValueError) as error:
        if port is None:
            return _open_web(host, 0)
        raise CommandError(
            f"Port {port} of {ascii(host[:80])[1:-1]} cannot be opened: {error}. Choose"
            " another port with --port (make demo PORT=…) or another address with"
            " --host, or leave the options out."
        ) from error


def _show(
    ladder: Ladder,
    supervised: Sequence[Supervised],
    stop: threading.Event,
    limit: int | None,
    banner: Sequence[str],
) -> None:
    """Print each finished game, and the leaderboard and a banner after every tenth.

    Return at the `stop` event or after `limit` games. Meanwhile restart each of the
    supervised parts if it ends.
    """
    results = NewResults()
    shown = 0
    while not stop.is_set():
        for game in results.take():
            console.say_or_drop(console.game_line(game))
            shown += 1
            if shown % GAMES_PER_LEADERBOARD == 0:
                board = console.leaderboard_lines(ladder.seasons.latest("number"))
                for line in [*board, *banner]:
                    console.say_or_drop(line)
        connection.close_if_unusable_or_obsolete()
        for part in supervised:
            part.start()
        if limit is not None and shown >= limit:
            return
        stop.wait(POLL_INTERVAL_S)
