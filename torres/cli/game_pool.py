"""Play many games at the same time, each in one of several worker processes.

Threads would not do: the referee of each game is Python code. A worker process has its
own sandbox and plays one game after the other. If a worker dies, its game is played
again by a new one. The caller decides which game comes next, and gets the results in
the order in which the games end.
"""

import contextlib
import multiprocessing
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from engine.referee import ServiceFault
from engine.rulesets import resolve
from torres.cli.local_results import LocalGame, LocalResult
from torres.cli.local_rules import LocalRules
from torres.cli.play import GameFiles, GameRunner, LocalBot
from torres.runner.sandbox import Level, open_sandbox

MAX_DEATHS = 3
"""A game during which this many workers died is not played again."""
STOP_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """The settings that all games of a pool share. ``bots`` are ready to run."""

    bots: tuple[LocalBot, ...]
    rules: LocalRules
    level: Level
    replays: Path | None = None
    logs: Path | None = None


class GamePool:
    """Worker processes that play games. Use it in a ``with`` statement.

    Leaving the statement stops all running games and kills their bots.
    """

    def __init__(self, settings: PoolSettings, workers: int) -> None:
        self._settings = settings
        self._workers = [_PoolWorker(settings) for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.join()

    @property
    def idle(self) -> int:
        """The number of workers without a game."""
        return sum(worker.job is None for worker in self._workers)

    @property
    def running(self) -> int:
        return len(self._workers) - self.idle

    def start(self, job: LocalGame) -> None:
        """Let an idle worker play a game."""
        next(worker for worker in self._workers if worker.job is None).play(job)

    def add_bot(self, bot: LocalBot) -> int:
        """Add a bot and return its index. Idle workers learn of it with their game."""
        bots = (*self._settings.bots, bot)
        self._settings = replace(self._settings, bots=bots)
        for worker in self._workers:
            worker.settings = self._settings
        return len(bots) - 1

    def play_all(self, games: Iterable[LocalGame]) -> Iterator[LocalResult]:
        """Play games in their order; yield each result when its game ends."""
        waiting = iter(games)
        while True:
            for game in islice(waiting, self.idle):
                self.start(game)
            if not self.running:
                return
            yield from self.wait()

    def wait(self, timeout_s: float | None = None) -> list[LocalResult]:
        """Wait until a game ends; return the results that are there by then."""
        busy = {w.connection: w for w in self._workers if w.job is not None}
        ready = wait(list(busy), timeout_s)
        results = [busy[connection].result() for connection in ready]  # type: ignore[index]
        return [result for result in results if result is not None]


class _PoolWorker:
    """One worker process from the outside; ``job`` is the game that it plays."""

    def __init__(self, settings: PoolSettings) -> None:
        self.settings = settings
        self.job: LocalGame | None = None
        self._deaths = 0
        self._start()

    def _start(self) -> None:
        # A fork would copy the threads of the progress bar, and their locks.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(theirs, self.settings), daemon=True
        )
        self._process.start()
        theirs.close()

    def play(self, job: LocalGame) -> None:
        self.job = job
        self._deaths = 0
        self._send()

    def _send(self) -> None:
        assert self.job is not None  # set by `play`
        bots = tuple(self.settings.bots[index] for index in self.job.seats)
        # If the worker has died, `result` notices that and starts a new one.
        with contextlib.suppress(OSError):
            self.connection.send((self.job, bots))

    def result(self) -> LocalResult | None:
        """Receive the result of the game; None if the worker died."""
        assert self.job is not None  # set by `play`
        try:
            result: LocalResult = self.connection.recv()
        except (EOFError, OSError):
            return self._replace_dead_process()
        self.job = None
        return result

    def _replace_dead_process(self) -> LocalResult | None:
        self.join()
        self._deaths += 1
        self._start()
        job = self.job
        assert job is not None  # a worker without a game is not waited for
        if self._deaths < MAX_DEATHS:
            self._send()
            return None
        self.job = None
        why = f"{MAX_DEATHS} worker processes died while they played it"
        return LocalResult(job.number, job.seed, job.seats, dead=why)

    def terminate(self) -> None:
        self.connection.close()
        self._process.terminate()

    def join(self) -> None:
        self._process.join(STOP_TIMEOUT_S)
        self._process.kill()
        self._process.join()


def _work(connection: Connection, settings: PoolSettings) -> None:
    """Play games until the other end of the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process
    signal.signal(signal.SIGTERM, _stop)
    with closing(connection), closing(open_sandbox(settings.level)) as sandbox:
        files = GameFiles(None, settings.replays, settings.logs, None)
        while True:
            try:
                job, bots = connection.recv()
            except EOFError:
                return
            rules = resolve(settings.rules.ruleset, len(bots), settings.rules.switches)
            runner = GameRunner(rules, sandbox, files, settings.rules.limits)
            try:
                result = runner.play(job, bots)
            except ServiceFault as fault:
                result = LocalResult(job.number, job.seed, job.seats, dead=str(fault))
            try:
                connection.send(result)
            except OSError:
                return


def _stop(signum: int, frame: FrameType | None) -> None:
    """End the process in order, so that the referee kills the bots of its game."""
    sys.exit(0)
