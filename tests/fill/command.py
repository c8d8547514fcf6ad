"""Fill an empty database with a made-up season, for measurements and tests."""

import time
from argparse import ArgumentParser
from datetime import timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.utils import timezone

from ladder.bots import house_bots
from ladder.bots.models import Bot, Submission
from ladder.common.commands import ServiceCommand
from ladder.games.models import Attempt, Game, Match, Seat
from ladder.ops import console
from ladder.ratings import seasons
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Membership, Pairing, Rating
from tests.fill.bots import add_bots, house_bots as filled_house_bots
from tests.fill.cups import add_tournaments
from tests.fill.rows import clean_up, reset_sequences
from tests.fill.season import Clock, SeasonWriter
from tests.fill.world import World, WorldSize

SEASON_DAYS = 90
MIN_BOTS = 4
MAX_BOTS = 1_000_000
MAX_GAMES = 100_000_000
MAX_TOURNAMENTS = 1000
EXPLICIT_IDS = (User, Bot, Submission, Match, Game, Seat, Attempt)
IMPLICIT_IDS = (Membership, Pairing, Entry, Rating)


class Command(ServiceCommand):
    help = (
        "Fill an empty database with bots, games and ratings, to measure how fast the"
        " service is with many of them. Everything is consistent: rebuild_ratings"
        " --check and audit pass, because the ratings are really folded. But it is"
        " made up: the uploads have no files, so that no worker can play these bots;"
        " all games are copies of a few real ones, whose replays name other players;"
        " and there are no forfeits, voids and logs. The season is frozen at the end,"
        " so that no matches are made, unless --open is given. A million games take"
        " some 15 minutes and 4 GB."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bots", type=int, default=200)
        parser.add_argument("--games", type=int, default=1000)
        parser.add_argument(
            "--busiest",
            type=int,
            help="games of the busiest bot (default: a twentieth of all games)",
        )
        parser.add_argument("--tournaments", type=int, default=3)
        parser.add_argument("--seed", default="torres", help="any text")
        parser.add_argument(
            "--open", action="store_true", help="leave the season open for new matches"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        size = _size(options)
        if Game.objects.exists():
            raise CommandError(
                "The database has games. Name an empty one in DATABASE_URL (or another"
                " folder in TORRES_DATA), run manage.py migrate, then this command."
            )
        began = time.monotonic()
        with transaction.atomic():
            self._fill(size, options)
        clean_up()
        console.say(f"Filled in {time.monotonic() - began:.0f} s.")

    def _fill(self, size: WorldSize, options: dict[str, Any]) -> None:
        seed = options["seed"].encode("utf-8", "surrogateescape")
        rng = Random(seed)
        ended = timezone.now() - timedelta(hours=1)
        started = ended - timedelta(days=SEASON_DAYS)
        step = timedelta(days=SEASON_DAYS) / max(1, size.games)
        house_bots.ensure_house_bots()
        season = ensure_default_ladder().seasons.latest("number")
        _prepare_for_a_long_transaction()
        bots = add_bots(size.bots, rng, started)
        everybody = [*filled_house_bots(), *bots]
        size = WorldSize(len(everybody), size.games, size.busiest)
        world = World(size, rng)
        writer = SeasonWriter(season, everybody, Clock(started, step), rng)
        writer.write(world, size.games, self._progress(size.games))
        reset_sequences([*EXPLICIT_IDS, *IMPLICIT_IDS])
        add_tournaments(options["tournaments"], bots, rng, ended)
        if not options["open"]:
            season.refresh_from_db()
            seasons.freeze(season)
        busiest = Bot.objects.get(pk=everybody[world.busiest].bot)
        console.say(f"The busiest bot is {busiest.slug}.")

    def _progress(self, games: int) -> Any:
        began = time.monotonic()

        def progress(written: int) -> None:
            seconds = time.monotonic() - began
            console.say(f"{written:>9} of {games} games, {seconds:.0f} s")

        return progress


def _size(options: dict[str, Any]) -> WorldSize:
    bots, games = options["bots"], options["games"]
    busiest = options["busiest"]
    if busiest is None:
        busiest = games // 20
    valid = MIN_BOTS <= bots <= MAX_BOTS and 0 <= busiest <= games <= MAX_GAMES
    if not valid or not 0 <= options["tournaments"] <= MAX_TOURNAMENTS:
        raise CommandError(
            f"Use at least {MIN_BOTS} bots, 0 or more games, and for the busiest bot no"
            f" more games than there are. The most are {MAX_BOTS} bots, {MAX_GAMES}"
            f" games and {MAX_TOURNAMENTS} tournaments."
        )
    return WorldSize(bots, games, busiest)


def _prepare_for_a_long_transaction() -> None:
    """Check foreign keys after each statement, and allow pauses between statements.

    Otherwise PostgreSQL keeps a list of all new rows in memory until the end, and ends
    the session while games are made up.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
