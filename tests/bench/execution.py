# ruff: noqa: PLC0415 - Django is set up first
"""The cost of a game besides playing it: finishing it and queueing it.

All figures are the CPU time of this process and of its PostgreSQL backend together, on
a server that the benchmark starts. Each is the median of several turns. What cannot be
avoided (a round trip, an empty task) is measured in the same turns. The first turn,
which connects and plans, does not count. Run it by itself with
`python -m tests.bench.execution`.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench.sizes import size

TURNS = size(7, short=1)
GAMES = size(100, short=10)  # in each turn
REPLAYS = size(300, short=3)
WORKERS = size((1, 2, 4), short=(1,))
WATCHED_GAMES = size(300, short=10)


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, number, target, True if the target is met)."""
    with _servers():
        kinds = {
            "finish": partial(_finishing, _finish, GAMES),
            "naive": partial(_finishing, _save_each, GAMES // 10),
            "trip": partial(_each, _trip),
            "queue": _queueing,
            "task": partial(_each, _empty_task),
        }
        costs = _in_turns(kinds)
        size = _replay_bytes()
    ours, queueing = costs["finish"], costs["queue"]
    ratio = costs["naive"] / ours
    rates = {count: _games_a_second(count) for count in WORKERS}
    growth = rates[WORKERS[-1]] / rates[1]
    return [
        ("finishing a 4-player game, ms of CPU", ours, "≤ 2", ours <= 2),
        ("of it a round trip, SELECT 1", costs["trip"], "", True),
        ("naive ORM saves / finishing", ratio, "≥ 3", ratio >= 3),
        ("queueing, ms of CPU a game", queueing, "≤ 2", queueing <= 2),
        ("of it an empty Celery task", costs["task"], "", True),
        ("replay of a random 2-player game, bytes", size, "≤ 600", size <= 600),
        *(
            (f"games a second, instant bots, workers: {count}", rate, "", True)
            for count, rate in rates.items()
        ),
        (f"{WORKERS[-1]} workers / 1 worker", growth, "", True),
    ]


@contextmanager
def _servers() -> Iterator[None]:
    from tests import servers

    with tempfile.TemporaryDirectory(prefix="torres-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres = servers.postgres(folder / "postgres", migrated=True)
        redis = servers.redis(folder / "redis")
        os.environ |= {
            "DATABASE_URL": postgres.url,
            "BROKER_URL": redis.url,
            "SECRET_KEY": "only-for-benchmarks-" * 2,
            "TORRES_DATA": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "ladder.settings",
        }
        try:
            _set_up()
            yield
        finally:
            from django.db import connection

            connection.close()
            connection.close_pool()
            postgres.close()
            redis.close()


def _set_up() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    # No dispatcher runs here, which would give decks to matches: without decks no game
    # can be claimed. Services that a benchmark starts read their own settings.
    settings.TORRES_COMMITTED_DECKS = False
    call_command("migrate", verbosity=0)


def _in_turns(kinds: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Measure all costs in turns; return the median of each, without the first turn."""
    turns = [{name: cost() for name, cost in kinds.items()} for _ in range(1 + TURNS)]
    return {name: median(turn[name] for turn in turns[1:]) for name in kinds}


def _cpu() -> float:
    """Return the CPU seconds of this process and of its backend."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    # schedstat counts nanoseconds; /proc/PID/stat counts hundredths of a second.
    backend_ns = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return time.process_time() + backend_ns / 1e9


def _finishing(finish: Callable[..., object], games: int) -> float:
    """Return the milliseconds of CPU that finishing one 4-player game takes."""
    from ladder.games import attempts
    from tests.games import factories

    worker = factories.worker()
    claims = [attempts.claim(_game(4), worker) for _ in range(games)]
    began = _cpu()
    for claim in claims:
        finish(claim)
    return 1e3 * (_cpu() - began) / games


def _each(run: Callable[[], object]) -> float:
    """Return the milliseconds of CPU that one run takes."""
    began = _cpu()
    for _ in range(GAMES):
        run()
    return 1e3 * (_cpu() - began) / GAMES


def _trip() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


def _empty_task() -> None:
    from ladder.celery import app

    app.send_task("bench.nothing", retry=False)


def _game(seats: int) -> int:
    from ladder.bots.models import Bot
    from tests.games import factories

    players = list(Bot.objects.order_by("pk")[:seats])
    while len(players) < seats:
        players.append(factories.bot(f"bot-{Bot.objects.count()}"))
    return factories.match(players).games.get().pk


def _finish(claim: object) -> None:
    from ladder.games import attempts
    from ladder.games.attempts import FinishedGame, SeatResult
    from torres.runner.verdict import SeatOutput

    places = [SeatResult(seat, 40 - seat, seat + 1) for seat in range(4)]
    result = FinishedGame("completed", "1", b"r" * 900, places, "{}")
    outputs = [SeatOutput(stderr="a few words") for _ in range(4)]
    attempts.finish(claim, result, outputs)


def _save_each(claim: object) -> None:
    """Write the same as a tutorial would: fetch, change and save row by row."""
    from django.db import transaction
    from django.utils import timezone

    from ladder.games.models import AnswerBatch, Attempt, Game, Seat, SeatLog

    with transaction.atomic():
        game = Game.objects.select_for_update().get(pk=claim.game)
        if game.fence != claim.fence:
            return
        attempt = Attempt.objects.get(game=game, fence=claim.fence)
        for number in range(4):
            seat = Seat.objects.get(game=game, number=number)
            seat.score, seat.rank = 40 - number, number + 1
            seat.full_clean()
            seat.save()
            SeatLog.objects.create(attempt=attempt, number=number, stderr="a few words")
        for answer in AnswerBatch.objects.filter(attempt=attempt):
            answer.delete()
        attempt.outcome, attempt.ended_at = "finished", timezone.now()
        attempt.full_clean()
        attempt.save()
        game.status, game.owner, game.lease_until = "finished", None, None
        game.finished_at, game.reason = timezone.now(), "completed"
        game.engine, game.replay = "1", b"r" * 900
        game.full_clean()
        game.save()


def _queueing() -> float:
    """Return the milliseconds of CPU from a scheduled game to its message in Redis."""
    from ladder.celery import app
    from ladder.dispatch.dispatcher import Dispatcher
    from ladder.games.models import Game

    app.set_default()
    Game.objects.filter(status="scheduled").update(status="cancelled")
    for _ in range(GAMES):
        _game(2)
    dispatcher = Dispatcher()
    dispatcher._send_hints(_roster(1))  # this one connects
    spent = 0.0
    sent = 0
    while sent < GAMES - 2:
        # As with four slots, if their workers have just taken all hints that were sent.
        Game.objects.filter(sent_at__isnull=False, status="scheduled").update(
            status="cancelled"
        )
        began = _cpu()
        sent += dispatcher._send_hints(_roster(4))
        spent += _cpu() - began
    return 1e3 * spent / sent


def _roster(slots: int) -> object:
    from ladder.games.capabilities import WorkerGroup, WorkerPool

    return WorkerPool([WorkerGroup(None, slots)])


def _replay_bytes() -> float:
    """Return the mean size of a stored replay of two random bots."""
    from ladder.games import replays
    from tests.games.train_dictionary import replay

    sizes = [len(replays.pack(replay("yucata", 2))) for _ in range(REPLAYS)]
    return sum(sizes) / REPLAYS


def _games_a_second(workers: int) -> float:
    """Return the games per second of bots that answer at once."""
    from tests.soak.factories import fleet

    ended = "SELECT count(*) FROM games_game WHERE status = 'finished'"
    with fleet(app="ladder.ops.chaos.celery") as service:
        service.open([()] * workers)
        service.until(lambda: service.ask(ended)[0][0] > 10 * workers, 120)
        ((before,),) = service.ask(ended)
        last = int(str(before)) + WATCHED_GAMES
        return WATCHED_GAMES / service.until(
            lambda: service.ask(ended)[0][0] >= last, 120
        )


if __name__ == "__main__":
    for what, number, target, holds in measure():
        print(f"{what:<45}{number:>9.2f}  {target:<8}{'yes' if holds else 'NO'}")
