"""Measures what one host plays, and predicts what ten and a hundred play.

`python -m tests.bench capacity [--seconds 40] [--slots 2 4 8 16]` runs a service of its
own with PostgreSQL, Redis, a dispatcher and a worker. Its players wait instead of
computing, so the processors are free for the service itself. The CPU time of each part
and the throughput with the fewest slots give the model its numbers. The throughput with
more slots shows how good its predictions are.
"""

import argparse
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

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
    for line in [*_comparison(rows), "", *_costs(rows), "", *_forecast(_mean(rows))]:
        print(line)


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


def _mean(rows: Sequence[Measured]) -> dict[str, float]:
    """Return the CPU seconds of a game by part, with equal weight for each game."""
    games = sum(row.games for row in rows)
    return {
        part: sum(row.cpu_s[part] * row.games for row in rows) / games
        for part in rows[0].cpu_s
    }


def _comparison(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the throughput beside that of a model that knows only the first row."""
    first = rows[0]
    think_s = first.slots / first.games_per_s - first.total_s
    here = ClosedNetwork(
        [Station("processors", first.total_s, PROCESSORS)], [], think_s
    )
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


def _costs(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the CPU time of each part."""
    yield f"| ms of CPU a game | {' | '.join(str(row.slots) for row in rows)} slots |"
    yield "|---" * (len(rows) + 1) + "|"
    for part in rows[0].cpu_s:
        cells = " | ".join(f"{1000 * row.cpu_s[part]:.1f}" for row in rows)
        yield f"| {part} | {cells} |"


def _forecast(cpu_s: dict[str, float]) -> Iterator[str]:
    """Yield what hosts with computing bots play, and what is busiest then."""
    yield "| CPU of a game | hosts | games a second | games a day | busiest |"
    yield "|---|---|---|---|---|"
    for game_s in GAME_CPU_S:
        for hosts in HOSTS:
            found = forecast(cpu_s, game_s, hosts)
            rate = found.games_per_s
            busy = 100 * found.utilisation[found.bottleneck]
            yield (
                f"| {game_s:g} s | {hosts} | {rate:.3g} | {rate * SECONDS_A_DAY:,.0f}"
                f" | {found.bottleneck}, {busy:.0f} % |"
            )


def forecast(cpu_s: dict[str, float], game_s: float, hosts: int) -> CapacityForecast:
    """Return what worker hosts play whose bots compute.

    Each host has `HOST_PROCESSORS` processors and as many slots. `cpu_s` is the CPU
    time of a game by part of the service, `game_s` that of its bots, in seconds.
    """
    host = Station("worker hosts", cpu_s[WORKER] + game_s, HOST_PROCESSORS)
    shared = [
        Station(DISPATCHER, cpu_s[DISPATCHER]),
        Station(DATABASE, cpu_s[DATABASE], DATABASE_PROCESSORS),
        Station(BROKER, cpu_s[BROKER]),
        Station("ledger of the only ladder", LEDGER_S),
    ]
    return ClosedNetwork([host], shared, 0.0).predict(HOST_SLOTS, hosts)
