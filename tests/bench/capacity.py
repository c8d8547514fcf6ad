# ruff: noqa: E402 -- Django is set up first
"""Measures what one host plays, and predicts what ten and a hundred play.

`python -m tests.bench capacity [--seconds 40] [--slots 2 4 8 16]` runs a service of its
own with PostgreSQL, Redis, a dispatcher and a worker. Its players wait instead of
computing, so the processors are free for the service itself. The CPU time of each part
at several rates gives what it needs without games, and what a game adds. The throughput
with the fewest slots gives the time for which the players wait. The throughput with
more slots shows how good the predictions are.
"""

import argparse
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, linear_regression

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
os.environ.setdefault("SECRET_KEY", secrets.token_hex(32))
django.setup()

from tests.bench.closed_network import CapacityForecast, ClosedNetwork, Station
from tests.bench.scale.meter import cpu_of_tree
from tests.soak.factories import Fleet, fleet, wait_for_work

BOTS = 64
WARM_UP_S = 15
PROCESSORS = 2  # of the machine that measures: all parts share them
WORKER, DISPATCHER = "worker", "dispatcher"
DATABASE, BROKER = "PostgreSQL", "Redis"
LEDGER_S = 0.0008  # `python -m tests.bench scale`, the row "rater, per game"

HOST_PROCESSORS = HOST_SLOTS = 8
DATABASE_PROCESSORS = 8
HOSTS = (1, 10, 100)
GAME_CPU_S = (0.5, 5.0, 60.0)
"""CPU time of all seats of a game with their sandboxes, for the table."""
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Measured:
    """Games in a second with a number of slots, and CPU seconds a game by part."""

    slots: int
    games: int
    games_per_s: float
    cpu_s: dict[str, float]

    @property
    def total_s(self) -> float:
        """Return the CPU time of a game in all parts, in seconds."""
        return sum(self.cpu_s.values())


@dataclass(frozen=True, slots=True)
class CpuCost:
    """The processor time of a part: without games, and for each game.

    `idle` is a share of one processor, `game_s` are seconds.
    """

    idle: float
    game_s: float

    def demand_s(self, processors: int = 1) -> float:
        """Return the time that a game takes of the processors' time for games."""
        return self.game_s / (1 - self.idle / processors)


def fitted(rates: Sequence[float], busy: Sequence[float]) -> CpuCost:
    """Return the cost whose line is nearest to the measured points (least squares).

    `rates` are games a second, and `busy` the processors in use then. With one rate
    everything counts as the cost of games.
    """
    if len(set(rates)) == 1:
        return CpuCost(0.0, fmean(busy) / rates[0])
    slope, idle = linear_regression(rates, busy)
    if idle < 0:
        return CpuCost(0.0, linear_regression(rates, busy, proportional=True).slope)
    return CpuCost(idle, slope)


def report(arguments: Sequence[str]) -> None:
    """Measure, compare with the model, and print what it predicts for more hosts."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench capacity")
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--slots", type=int, nargs="+", default=[2, 4, 8, 16, 32])
    options = parser.parse_args(arguments)
    rows = []
    for slots in sorted(options.slots):
        rows.append(measured(slots, options.seconds))
        print(f"{slots} slots: {rows[-1].games} games", flush=True)
    costs = _fit(rows)
    tables = [_comparison(rows, costs), _costs(rows, costs), _forecast(costs)]
    for table in tables:
        print("", *table, sep="\n")


def measured(slots: int, seconds: int) -> Measured:
    """Run a service with one worker, and measure it for some seconds."""
    with fleet() as service:
        service.open([()], slots=slots, bots=BOTS)
        wait_for_work(service, 120)
        pause = threading.Event()
        pause.wait(WARM_UP_S)
        used, began = _cpu(service), _now(service)
        pause.wait(seconds)
        spent, ended = _cpu(service), _now(service)
        query = "SELECT COUNT(*) FROM games_game WHERE finished_at BETWEEN %s AND %s"
        games = service.ask(query, began, ended)[0][0]
    return Measured(
        slots,
        games,
        games / (ended - began).total_seconds(),
        {part: (spent[part] - used[part]) / games for part in spent},
    )


def _cpu(service: Fleet) -> dict[str, float]:
    roots = {
        WORKER: service.workers[0].child.pid,
        DISPATCHER: service.scheduler.child.pid,
        DATABASE: service.postgres.pid,
        BROKER: service.redis.pid,
    }
    return {part: cpu_of_tree(pid) for part, pid in roots.items()}


def _now(service: Fleet) -> datetime:
    now = service.now()
    assert isinstance(now, datetime)
    return now


def _fit(rows: Sequence[Measured]) -> dict[str, CpuCost]:
    """Return the cost of each part."""
    rates = [row.games_per_s for row in rows]
    return {
        part: fitted(rates, [row.cpu_s[part] * row.games_per_s for row in rows])
        for part in rows[0].cpu_s
    }


def _comparison(rows: Sequence[Measured], costs: dict[str, CpuCost]) -> Iterator[str]:
    """Yield the throughput beside that of a model whose players wait as in row one."""
    first = rows[0]
    idle = sum(cost.idle for cost in costs.values())
    game_s = sum(cost.game_s for cost in costs.values())
    demand_s = CpuCost(idle, game_s).demand_s(PROCESSORS)
    think_s = first.slots / first.games_per_s - demand_s
    here = ClosedNetwork([Station("processors", demand_s, PROCESSORS)], [], think_s)
    yield "| slots | games a second | predicted | difference | processors busy |"
    yield "|---|---|---|---|---|"
    for row in rows:
        found = here.predict(row.slots)
        off = f"{100 * (found.games_per_s / row.games_per_s - 1):+.0f} %"
        busy = 100 * row.games_per_s * row.total_s / PROCESSORS
        yield (
            f"| {row.slots} | {row.games_per_s:.2f} | {found.games_per_s:.2f}"
            f" | {off if row is not first else 'fitted'} | {busy:.0f} % |"
        )


def _costs(rows: Sequence[Measured], costs: dict[str, CpuCost]) -> Iterator[str]:
    """Yield the measured CPU time of each part, and the two numbers of its line."""
    slots = [f"{row.slots} slots" for row in rows]
    yield f"| ms of CPU a game | {' | '.join(slots)} | added by a game | idle |"
    yield "|---" * (len(rows) + 3) + "|"
    for part, cost in costs.items():
        cells = " | ".join(f"{1000 * row.cpu_s[part]:.1f}" for row in rows)
        yield f"| {part} | {cells} | {1000 * cost.game_s:.1f} | {cost.idle:.1%} |"


def _forecast(costs: dict[str, CpuCost]) -> Iterator[str]:
    """Yield what hosts with computing bots play, and what is busiest then."""
    yield "| CPU of a game | hosts | games a second | games a day | busiest |"
    yield "|---|---|---|---|---|"
    for game_s in GAME_CPU_S:
        for hosts in HOSTS:
            found = forecast(costs, game_s, hosts)
            rate = found.games_per_s
            busy = 100 * found.utilisation[found.bottleneck]
            yield (
                f"| {game_s:g} s | {hosts} | {rate:.3g} | {rate * SECONDS_A_DAY:,.0f}"
                f" | {found.bottleneck}, {busy:.0f} % |"
            )


def forecast(costs: dict[str, CpuCost], game_s: float, hosts: int) -> CapacityForecast:
    """Return what worker hosts play whose bots compute.

    Each host has `HOST_PROCESSORS` processors and as many slots. `costs` are those of
    the parts of the service, `game_s` is the CPU time of a game's bots in seconds.
    """
    worker = costs[WORKER]
    host_s = CpuCost(worker.idle, worker.game_s + game_s).demand_s(HOST_PROCESSORS)
    shared = [
        Station(DISPATCHER, costs[DISPATCHER].demand_s()),
        Station(
            DATABASE, costs[DATABASE].demand_s(DATABASE_PROCESSORS), DATABASE_PROCESSORS
        ),
        Station(BROKER, costs[BROKER].demand_s()),
        Station("ledger of the only ladder", LEDGER_S),
    ]
    host = Station("worker hosts", host_s, HOST_PROCESSORS)
    return ClosedNetwork([host], shared, 0.0).predict(HOST_SLOTS, hosts)
