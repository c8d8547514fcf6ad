"""How long the games of this worker process took, and the parts that are ours.

The process counts in memory, as histograms, and its reporter writes them with the next
report into the worker's row. So a game costs no statement, and every web server can
show the figures of all workers.
"""

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from threading import Lock
from typing import TypedDict

from torres.runner.verdict import BotStart

# From the order to a waiting zygote to the longest game.
BUCKETS_S = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0),
    *(2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0),
)
"""The upper bounds of the buckets. Longer times are in one more bucket."""


class Timing(StrEnum):
    """The times that are counted, in seconds.

    The sandbox start and the ready time are those of a bot (`verdict.BotStart`). The
    referee's is the CPU time of the thread that plays a game: rules, protocol, pipes.
    The time of a game goes from its claim to its stored result.
    """

    SANDBOX_START = "sandbox_start"
    BOT_READY = "bot_ready"
    REFEREE = "referee"
    GAME = "game"


class Histogram(TypedDict):
    """The number of times in each bucket, and the sum of all, in seconds."""

    counts: list[int]
    sum: float


class Timings:
    """The histograms of one process. Any thread may use them."""

    def __init__(self) -> None:
        self._histograms = {
            timing.value: Histogram(counts=[0] * (len(BUCKETS_S) + 1), sum=0.0)
            for timing in Timing
        }
        self._lock = Lock()

    def add(self, timing: Timing, seconds: float) -> None:
        bucket = bisect_left(BUCKETS_S, seconds)
        with self._lock:
            histogram = self._histograms[timing]
            histogram["counts"][bucket] += 1
            histogram["sum"] += seconds

    def add_starts(self, starts: Sequence[BotStart | None]) -> None:
        """Add how long bots took to start; None stands for one that did not."""
        for start in starts:
            if start is None:
                continue
            self.add(Timing.SANDBOX_START, start.sandbox_s)
            if start.ready_s is not None:
                self.add(Timing.BOT_READY, start.ready_s)

    def snapshot(self) -> dict[str, Histogram]:
        """Return a copy of all histograms."""
        with self._lock:
            return {
                name: Histogram(counts=[*each["counts"]], sum=round(each["sum"], 6))
                for name, each in self._histograms.items()
            }


TIMINGS = Timings()
