"""The rows of the table: what is measured, how, and its target.

Everything that a row writes is deleted again, so that a database can be measured often.
"""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from random import Random
from threading import Event

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from ladder.dispatch.dispatcher import UPKEEP_INTERVAL_S, Dispatcher
from ladder.games.models import Attempt, Game, Match, Seat, Worker
from ladder.ratings import rater, seasons
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Pairing, Rating, Season
from tests.bench.scale.cup import cup_rows
from tests.bench.scale.ledger import ledger_rows
from tests.bench.scale.meter import (
    CallCost,
    cost_of,
    cost_of_one,
    cpu_of_all,
    cpu_of_tree,
    database_processes,
)
from tests.bench.scale.report import MeasuredRow
from tests.bench.sizes import size
from tests.fill.cups import finish_game
from tests.fill.specimens import play_specimens

MATCHES = size(24, short=4)
RATED_GAMES = size(50, short=4)
SLOTS = 2
UP_STARTS_S = size(12, short=3)
UP_MEASURED_S = size(20, short=1)
MAX_PAGE_MS = 50
MS = "ms"

_pause = Event()  # never set: to wait for it is to sleep


def all_rows() -> Iterator[MeasuredRow]:
    """Measure everything and yield the rows of the table."""
    season = Season.objects.exclude(status=Season.Status.ARCHIVED).get()
    yield from _dispatcher_rows(season)
    yield from _page_rows(season)
    yield from _admin_rows()
    yield _row("manage.py status", 1000, cost_of(_status))
    yield from cup_rows()
    yield _rater_row(season)
    yield _up_row()
    yield from ledger_rows(season)


def _row(name: str, target: float | None, cost: CallCost) -> MeasuredRow:
    return MeasuredRow(name, target, MS, *cost)


@contextmanager
def _open_season(season: Season) -> Iterator[Worker]:
    """Let matches be made by one live worker; delete them in the end."""
    last = Match.objects.latest("pk").pk
    worker = Worker.objects.create(
        name="bench:scale#1", host="bench", slots=SLOTS, languages=["python"]
    )
    if season.status == Season.Status.FROZEN:
        seasons.reopen(season)
    try:
        yield worker
    finally:
        _delete_matches(last)
        Worker.objects.filter(pk=worker.pk).delete()
        seasons.freeze(season)


def _delete_matches(after: int) -> None:
    """Delete the matches that were made after this one."""
    Pairing.objects.filter(match__gt=after).delete()
    Attempt.objects.filter(game__match__gt=after).delete()
    Seat.objects.filter(game__match__gt=after).delete()
    Game.objects.filter(match__gt=after).delete()
    Match.objects.filter(pk__gt=after).delete()


def _dispatcher_rows(season: Season) -> Iterator[MeasuredRow]:
    with _open_season(season) as worker:
        last = Match.objects.latest("pk").pk

        def report() -> None:
            Worker.objects.filter(pk=worker.pk).update(seen_at=Now())

        def wait_for_upkeep() -> None:
            report()
            _pause.wait(UPKEEP_INTERVAL_S)

        dispatcher = Dispatcher()
        report()
        for _ in range(3):
            dispatcher.tick()  # makes the matches for which the worker has room
        cost = cost_of(dispatcher.tick, wait_for_upkeep)
        yield _row("tick with upkeep, nothing to do", 30, cost)
        yield _row("tick, nothing to do", 30, cost_of(dispatcher.tick, report))
        cost = cost_of(lambda: Dispatcher().tick(), report, rounds=3)
        yield _row("first tick of a dispatcher, nothing to do", None, cost)

        session = MatchmakingSession()

        def forget() -> None:
            _delete_matches(last)

        cost = cost_of(lambda: session.pair(season, MATCHES), forget)
        yield _row(f"making {MATCHES} matches", 120, cost)
        cost = cost_of(lambda: MatchmakingSession().pair(season, 1), forget, rounds=3)
        yield _row("first match of a dispatcher", None, cost)


def _page_rows(season: Season) -> Iterator[MeasuredRow]:
    by_games = Rating.objects.filter(season=season, bot__house=False)
    by_games = by_games.order_by("-games").select_related("bot")
    busiest = by_games[0]
    usual = by_games[by_games.count() // 2]
    client = Client(SERVER_NAME="localhost")
    ladder = f"/ladders/{season.ladder.slug}/"
    bot = "a bot with 300 games" if usual.games >= 250 else f"{usual.games} games"
    pages = [
        (f"page of {bot}", f"/bots/{usual.bot.slug}/"),
        ("page of the busiest bot", f"/bots/{busiest.bot.slug}/"),
        ("rating history", _api(season, usual, "history/")),
        ("rating history, busiest bot", _api(season, busiest, "history/")),
        ("/", "/"),
        ("ladder page", ladder),
        ("last ladder page", f"{ladder}?page={_last_page(season)}"),
        ("/games/?bot= of the busiest bot", f"/games/?bot={busiest.bot.slug}"),
        ("/games/", "/games/"),
        ("against/ of the busiest bot", _api(season, busiest, "against/")),
        ("compare", f"{ladder}compare/?bot={busiest.bot.slug}&other={usual.bot.slug}"),
        ("record of the busiest bot", _api(season, busiest, "record/")),
        ("games of the API", "/api/v1/games/"),
        ("games of the busiest bot", f"/api/v1/games/?bot={busiest.bot.slug}"),
    ]
    floor = cost_of(_getter(client, "/sign-in/"), cache.clear)
    yield _row("floor: the sign-in page, which reads nothing", None, floor)
    for name, address in pages:
        cost = cost_of(_getter(client, address), cache.clear)
        yield _row(name, MAX_PAGE_MS, cost)


def _api(season: Season, rating: Rating, rest: str) -> str:
    slug = season.ladder.slug
    return f"/api/v1/ladders/{slug}/bots/{rating.bot.slug}/{rest}"


def _last_page(season: Season) -> int:
    return max(1, (Rating.objects.filter(season=season).count() + 49) // 50)


def _getter(client: Client, address: str) -> Callable[[], None]:
    def get() -> None:
        response = client.get(address)
        if response.status_code != 200:
            raise RuntimeError(f"{address}: {response.status_code}")

    return get


def _admin_rows() -> Iterator[MeasuredRow]:
    """Yield the slowest list of the admin site, and the slowest search in one."""
    admin.autodiscover()
    operator = User.objects.create_superuser("scale-bench")
    client = Client(SERVER_NAME="localhost")
    client.force_login(operator)
    try:
        for name, query in (("list", ""), ("search", "?q=bot-5")):
            costs = {}
            for model, model_admin in admin.site._registry.items():
                if query and not model_admin.search_fields:
                    continue
                meta = model._meta
                view = f"admin:{meta.app_label}_{meta.model_name}_changelist"
                address = reverse(view) + query
                costs[meta.model_name] = cost_of(_getter(client, address), rounds=3)
            slowest = max(costs, key=lambda model: costs[model].cpu)
            yield _row(f"slowest admin {name}", 500, costs[slowest])
            order = sorted(costs, key=lambda model: -costs[model].cpu)[:5]
            for model in order:
                print(f"admin {name} of {model}: {costs[model]}")
    finally:
        operator.delete()


def _status() -> None:
    with redirect_stdout(io.StringIO()):
        try:
            call_command("status")
        except CommandError:
            return  # no dispatcher runs here


@contextmanager
def _rolled_back() -> Iterator[None]:
    """Keep nothing of what is written here."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _rater_row(season: Season) -> MeasuredRow:
    """Make and finish games, let the rater fold them, and roll everything back."""
    rng = Random(1)
    ladder = season.ladder
    specimens = {
        size: play_specimens(ladder.ruleset, int(size), ladder.limits, rng)
        for size in ladder.tables
    }
    costs = []
    with _open_season(season) as worker, _rolled_back():
        for _ in range(5):
            last = Match.objects.latest("pk").pk
            MatchmakingSession().pair(season, RATED_GAMES)
            games = Game.objects.filter(match__gt=last).select_related("match")
            for game in games.defer("replay"):
                specimen = rng.choice(specimens[str(game.match.seats)])
                finish_game(game, specimen, worker, game.created_at)
            costs.append(cost_of_one(lambda: rater.fold(season.pk)))
    season.refresh_from_db()
    cpu, wall, queries, _ = sorted(costs)[len(costs) // 2]
    least = min(cost.cpu for cost in costs)
    per_game = (cpu / RATED_GAMES, wall / RATED_GAMES, queries, least / RATED_GAMES)
    return MeasuredRow("rater, per game", 1.0, MS, *per_game)


def _up_row() -> MeasuredRow:
    """Run `manage.py up` with nothing to do; return the percent of a processor."""
    child = subprocess.Popen(
        [
            *(sys.executable, str(settings.BASE_DIR / "manage.py"), "up"),
            *("--port", "0", "--slots", str(SLOTS)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    try:
        _pause.wait(UP_STARTS_S)
        if child.poll() is not None:
            raise RuntimeError("manage.py up ended")
        backends = database_processes()
        used = cpu_of_tree(child.pid) + cpu_of_all(backends)
        began = time.monotonic()
        _pause.wait(UP_MEASURED_S)
        spent = cpu_of_tree(child.pid) + cpu_of_all(backends) - used
        percent = 100 * spent / (time.monotonic() - began)
    finally:
        child.terminate()
        child.wait()
    return MeasuredRow(
        "up with nothing to do", 2, "% of a core", percent, percent, 0, percent
    )
