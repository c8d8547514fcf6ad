"""Measures calls: CPU time with that of the database, wall time, and SQL statements."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.bench.sizes import size

ROUNDS = size(7, short=1)
TICKS_PER_S = 100  # the unit of the times in /proc/PID/stat


class CallCost(NamedTuple):
    """The cost of a call: ms of CPU, ms of time, and SQL statements.

    For several calls, `cpu` and `wall` are medians, and `least_cpu` is the least.
    """

    cpu: float
    wall: float
    queries: int
    least_cpu: float


def cost_of(
    call: Callable[[], object],
    prepare: Callable[[], object] = lambda: None,
    rounds: int = ROUNDS,
) -> CallCost:
    """Return the medians of several calls, after a first one that is not counted."""
    prepare()
    with CaptureQueriesContext(connection) as queries:
        call()
        statements = len(queries)  # later requests clear the log
    costs = []
    for _ in range(min(rounds, ROUNDS)):
        prepare()
        costs.append(cost_of_one(call))
    cpu = median(cost.cpu for cost in costs)
    wall = median(cost.wall for cost in costs)
    return CallCost(cpu, wall, statements, min(cost.cpu for cost in costs))


def cost_of_one(call: Callable[[], object]) -> CallCost:
    """Return the cost of one call, without the number of its statements."""
    backends = database_processes()
    began = time.perf_counter()
    used = time.process_time() + cpu_of_all(backends)
    call()
    spent = time.process_time() + cpu_of_all(backends) - used
    cpu = 1000 * spent
    return CallCost(cpu, 1000 * (time.perf_counter() - began), 0, cpu)


def database_processes() -> list[int]:
    """Return the processes of PostgreSQL that serve our database, if it is local."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        )
        return [pid for (pid,) in cursor.fetchall()]


def cpu_of_all(processes: list[int]) -> float:
    """Return the seconds of CPU that these processes have used, to the nanosecond."""
    return sum(_cpu_of(pid) for pid in processes)


def _cpu_of(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0


def cpu_of_tree(root: int) -> float:
    """Return the seconds of CPU of a process and all its descendants that run."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        # Its own time, and that of its children that have ended.
        used[pid] = sum(int(field) for field in fields[11:15]) / TICKS_PER_S
    total = 0.0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        total += used.get(pid, 0.0)
        waiting += children.get(pid, [])
    return total
