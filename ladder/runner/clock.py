"""The fair clock: what a bot is charged for a decision (design.md, section 6).

Charged is the larger of the processor time of the whole bot and of the wall time less
the time for which it was kept from the processors. Threads of its own do not cheat the
clock, because their processor time counts; a busy machine does not punish the bot,
because waiting for a processor does not.

It was kept from them as long as its threads waited, one after the other, and the host
of a virtual machine took them away. Nobody knows which waits were one after the other:
so all are added. But no thread waits where a processor has nothing to do, and who
mostly wants to compute gets a share of a processor on any machine: what the busiest
one did, and a multiple of the bot's processor time, bound the sum. The longest wait of
one thread counts in any case.

How long a thread waited is lost when it ends. What was seen of it before counts; where
the rest could have decided, the clock says that it cannot judge (``unsure``).
"""

import time
from dataclasses import dataclass

from ladder.runner.sandbox.api import Running
from ladder.runner.sandbox.proc import OwnDelay, Processors, runnable, schedstat

_LOOK_NS = 2_000_000
"""Wall time may exceed processor time by so much before the waiting is looked at."""
_UNSEEN_NS = 1_000_000
"""Processor time of ended threads above which they may have waited for one, too."""
_STARVED = 0.05
"""The part of the wall time that was waiting, from which a worker counts as starved."""
_STALE_NS = 5_000_000
"""How old what is known of the processors may be when a thought begins."""
_COARSE_NS = 20_000_000
"""What is said of processors is so coarse: in ticks of 10 ms, and from before."""
_LOAD = 10
"""So many times as long as it ran a bot may have waited in several threads. On a busier
machine only the longest wait counts; without it, threads that wake now and then on a
busy machine would pay for any sleep."""
_PROCESSORS = Processors()


@dataclass(frozen=True, slots=True)
class Charge:
    """What one thought cost so far, in milliseconds; ``ms`` is what is charged."""

    ms: float
    cpu_ms: float
    wall_ms: float
    waited_ms: float
    """How long it was kept from the processors."""


class _Threads:
    """What is seen of a bot's threads in one thought, also of those that end in it."""

    def __init__(self, waited_before: dict[int, int]) -> None:
        self.longest = self.together = 0
        """How long one of them waited for a processor at most, and all together, ns."""
        self.waits = waited_before
        """How long each that lives had waited in all when it was last seen."""
        self._waited: dict[int, int] = {}
        self._before = waited_before
        self._first: tuple[int, dict[int, int]] | None = None
        self._pressed = 0
        self._ran: dict[int, int] = {}

    def look(self, bot: Running, cpu: int) -> None:
        """See them all; ``cpu`` is the processor time of the whole bot until now."""
        seen = {tid: schedstat(tid) for tid in bot.threads()}
        self._ran |= {tid: ran for tid, (ran, _) in seen.items()}
        self.waits = {tid: waited for tid, (_, waited) in seen.items()}
        for tid, waited in self.waits.items():
            more = waited - self._before.get(tid, 0)
            self._waited[tid] = max(more, self._waited.get(tid, 0))
        self.longest = max(self._waited.values(), default=0)
        self.together = sum(self._waited.values())
        if self._first is None:
            self._first = (cpu, dict(self._ran))
            self._pressed = bot.pressure_ns()

    @property
    def looked(self) -> bool:
        return self._first is not None

    def pressed(self, bot: Running) -> int:
        """Return for how long some thread had to wait since the first look, in ns."""
        return max(self.longest, bot.pressure_ns() - self._pressed)

    def unseen(self, cpu: int) -> int:
        """Return the processor time that none of them was seen to use, in ns."""
        if self._first is None:
            return 0
        then, had_run = self._first
        seen = sum(ran - had_run.get(tid, 0) for tid, ran in self._ran.items())
        return cpu - then - seen


class Stopwatch:
    """Measures one bot's thinking time, decision after decision.

    Processor time is counted from the end of the last decision, so that what a bot
    burns between its answer and the freeze is charged to its next decision.
    """

    def __init__(self, bot: Running) -> None:
        self._bot = bot
        self._started = time.monotonic_ns()
        self._cpu = self._now = bot.cpu_ns()
        self._delay = OwnDelay()
        self._own = self._delay.read()
        self._held = 0
        self._before = _PROCESSORS.read(_STALE_NS)
        self._threads = _Threads({})
        self._waiting: dict[int, int] | None = None
        self.last = Charge(0, 0, 0, 0)
        """What the last finished thought cost."""

    def start(self) -> None:
        """Begin a thought now."""
        self._own = self._delay.read()
        self._before = _PROCESSORS.read(_STALE_NS)
        self._started = time.monotonic_ns()
        self._held = 0
        self._waiting = None
        if self._threads.looked:
            self._threads = _Threads(self._threads.waits)

    def released(self) -> None:
        """Note that the bot runs now: that we waited before is not its thinking."""
        own, before = self._delay.read(), self._own
        self._own, self._held = own, own - before

    def read(self) -> Charge:
        """Return what the thought cost until now; it may be read many times."""
        wall = time.monotonic_ns() - self._started
        self._now = self._bot.cpu_ns()
        cpu = self._now - self._cpu
        waited = 0
        if wall - cpu > _LOOK_NS:
            self._threads.look(self._bot, self._now)
            # The answer may have lain there while we waited for a processor ourselves,
            # since the last look.
            own, before = self._delay.read(), self._own
            self._own = own
            kept = self._kept(wall, cpu)
            waited = min(wall, kept + self._held + own - before)
        charged = max(cpu, wall - waited)
        return Charge(charged / 1e6, cpu / 1e6, wall / 1e6, waited / 1e6)

    def _kept(self, wall: int, cpu: int) -> int:
        """Return for how long it was kept from the processors, in ns."""
        idle, stolen = _PROCESSORS.read().since(self._before)
        most = min(wall - idle, _LOAD * cpu) + _COARSE_NS
        return max(self._threads.longest, min(self._threads.together + stolen, most))

    def unsure(self, charge: Charge) -> bool:
        """Return whether threads that have ended may have waited longer than was seen.

        So it is if threads used processor time that nobody saw, while some had to wait.
        ``charge`` is what was read last.
        """
        if self._threads.unseen(self._now) < _UNSEEN_NS:
            return False
        return self._threads.pressed(self._bot) / 1e6 > _STARVED * charge.wall_ms

    def settled(self) -> bool:
        """Return whether all waiting is known; ask again until it is.

        A thread's wait is counted when it gets a processor. So a thread that is
        runnable at the first call must have run before the verdict is final.
        """
        states = {tid: schedstat(tid)[0] for tid in self._bot.threads()}
        if self._waiting is None:
            self._waiting = {t: ns for t, ns in states.items() if runnable(t)}
        else:
            same = self._waiting.items() & states.items()
            self._waiting = {tid: ns for tid, ns in same if runnable(tid)}
        return not self._waiting

    def forget_waiting(self) -> None:
        """Let ``settled`` begin anew: the time was not up, and will be another time."""
        self._waiting = None

    def stop(self) -> None:
        """End the thought; ``last`` says what it cost, ``unsure`` still knows of it."""
        self.last = self.read()
        self._cpu = self._now

    def close(self) -> None:
        """Give back what it holds; ``last`` stays."""
        self._delay.close()
