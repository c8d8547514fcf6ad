"""The fair clock: what a bot is charged for a decision (design.md, section 6).

Charged is the larger of the processor time of the whole bot and of the wall time less
the longest time that one of its threads waited for a processor. Threads of its own do
not cheat the clock, because their processor time counts; a busy machine does not
punish the bot, because waiting for a processor does not.
"""

import time
from dataclasses import dataclass

from ladder.bots.sandbox.base import Running
from ladder.bots.sandbox.kernel import OwnDelay, run_delay, run_time, runnable

_LOOK_NS = 2_000_000
"""Wall time may exceed processor time by so much before the waiting is looked at."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one thought cost so far, in milliseconds; ``ms`` is what is charged."""

    ms: float
    cpu_ms: float
    wall_ms: float
    waited_ms: float
    """The longest time that one of its threads waited for a processor."""


class Stopwatch:
    """Measures one bot's thinking time, decision after decision.

    Processor time is counted from the end of the last decision, so that what a bot
    burns between its answer and the freeze is charged to its next decision.
    """

    def __init__(self, bot: Running) -> None:
        self._bot = bot
        self._started = time.monotonic_ns()
        self._cpu = bot.cpu_ns()
        self._delays: dict[int, int] = {}
        self._delay = OwnDelay()
        self._own = self._delay.read()
        self._waiting: dict[int, int] | None = None
        self.last = Charge(0, 0, 0, 0)
        """What the last finished thought cost."""
        self._seen: tuple[int, dict[int, int] | None] = (self._cpu, None)

    def start(self) -> None:
        """Begin a thought now."""
        self._own = self._delay.read()
        self._started = time.monotonic_ns()
        self._waiting = None

    def read(self) -> Charge:
        """Return what the thought cost until now; it may be read many times."""
        wall = time.monotonic_ns() - self._started
        now = self._bot.cpu_ns()
        cpu = now - self._cpu
        waited = 0
        delays = None
        if wall - cpu > _LOOK_NS:
            delays = {tid: run_delay(tid) for tid in self._bot.threads()}
            waited = max(
                (d - self._delays.get(tid, 0) for tid, d in delays.items()), default=0
            )
            # The answer may have lain there while we waited for a processor ourselves.
            own, before = self._delay.read(), self._own
            self._own = own
            waited += own - before
        self._seen = (now, delays)
        charged = max(cpu, wall - waited)
        return Charge(charged / 1e6, cpu / 1e6, wall / 1e6, waited / 1e6)

    def settled(self) -> bool:
        """Return whether all waiting is known; ask again until it is.

        A thread's wait is counted when it gets a processor. So a thread that is
        runnable at the first call must have run before the verdict is final.
        """
        states = {tid: run_time(tid) for tid in self._bot.threads()}
        if self._waiting is None:
            self._waiting = {t: ns for t, ns in states.items() if runnable(t)}
        else:
            same = self._waiting.items() & states.items()
            self._waiting = {tid: ns for tid, ns in same if runnable(tid)}
        return not self._waiting

    def close(self) -> None:
        """Give back what it holds; ``last`` stays."""
        self._delay.close()

    def stop(self) -> None:
        """End the thought; ``last`` says what it cost."""
        self.last = self.read()
        self._cpu, delays = self._seen
        if delays is not None:
            self._delays = delays
