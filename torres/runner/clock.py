"""The fair clock: it computes the charge of a bot for a decision.

A bot is charged ``max(CPU time, wall time - waiting time)``. The CPU time of all
processes and threads of the bot counts, so a bot gains nothing by starting more of
them. The wall time is the time that we spent in waiting for the bot, as the kernel
measures it (``polling``). So it costs the bot nothing if our own process is stopped,
waits for the interpreter's lock, or is busy. The waiting time is the time for which the
bot wanted a processor and got none, so a busy machine costs the bot nothing. A decision
is charged in these steps:

1. ``start`` begins to count wall time. CPU time is counted from the end of the previous
   decision: a bot pays for its work between its answer and the freeze.
2. ``thawed`` begins to count the delays of our own thread. ``resume`` does so again
   after each look at a bot that has not answered, and counts the look as wall time.
3. ``read`` compares the two times. As long as the wall time exceeds the CPU time by no
   more than 2 ms, the larger one is the charge, and the steps 4 to 7 are left out.
4. The run-queue delays of the bot's threads are added up, and the CPU steal (the time
   that the host of a virtual machine took) is added. Delays may overlap in time, and
   the kernel does not tell which do, so the sum may be too large.
5. The sum is capped by the time in which the busiest CPU was not idle, because no
   thread waits while a CPU is idle, and by 10 times the bot's CPU time. Both caps are
   raised by 20 ms, because the kernel's figures are that coarse.
6. The longest delay of a single thread always counts in full.
7. The delay of our own thread since then is added: the answer may have
   been in the pipe all that time. The waiting time never exceeds the wall time.
8. ``stop`` ends the decision and stores the charge in ``last``.

Two kinds of delays are not known in time. The kernel counts a delay only when the
thread gets a processor: ``all_delays_known`` says when a verdict can be final. The
delays of a thread are lost when it ends: if these could decide the verdict,
``may_have_missed_delays`` is true, and the fault is not the bot's.
"""

import time
from dataclasses import dataclass

from torres.runner.polling import TimedPoll
from torres.runner.sandbox.api import Running
from torres.runner.sandbox.proc import OwnDelay, Processors, runnable, schedstat

_MAX_UNEXPLAINED_NS = 2_000_000  # wall time minus CPU time that needs no explanation
_MAX_UNSEEN_CPU_NS = 1_000_000  # CPU time of threads that ended before we saw them
_STARVED_SHARE = 0.05  # of the wall time: a bot that waited longer was starved
_MAX_PROCESSORS_AGE_NS = 5_000_000  # of the processors' figures when a decision begins
_PROCESSORS_ERROR_NS = 20_000_000  # the kernel counts in ticks of 10 ms, at both ends
_MAX_WAIT_PER_CPU = 10
"""Waiting in several threads counts for at most this multiple of the CPU time.

Otherwise threads that merely wake up often on a busy machine would make any sleep free.
On a machine that is busier than that only the longest delay of one thread counts.
"""
_PROCESSORS = Processors()


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of a decision until now, in milliseconds. ``ms`` is the charge.

    ``waited_ms`` is how long the bot wanted a processor and got none.
    """

    ms: float
    cpu_ms: float
    wall_ms: float
    waited_ms: float


class _ThreadDelays:
    """The run-queue delays of a bot's threads in one decision, in ns.

    They include the delays of threads that have ended since they were last seen.
    ``delays_before`` has the total delay of each thread when the decision began.
    """

    def __init__(self, delays_before: dict[int, int]) -> None:
        self.longest_ns = 0
        self.sum_ns = 0
        self.total_delays = delays_before
        """The total delay of each thread that lived when we looked last."""
        self._delays_before = delays_before
        self._delays: dict[int, int] = {}
        self._run_times: dict[int, int] = {}
        self._looked = False
        self._first_cpu_ns = 0
        self._first_run_times: dict[int, int] = {}
        self._first_pressure_ns = 0

    def look(self, bot: Running, cpu_ns: int) -> None:
        """Read the delays of all threads that live now.

        ``cpu_ns`` is the CPU time of the whole bot until now.
        """
        stats = {tid: schedstat(tid) for tid in bot.threads()}
        self._run_times |= {tid: run_time for tid, (run_time, _) in stats.items()}
        self.total_delays = {tid: delay for tid, (_, delay) in stats.items()}
        for tid, total_delay in self.total_delays.items():
            delay = total_delay - self._delays_before.get(tid, 0)
            # A thread can get the id of one that ended: the longer delay counts.
            self._delays[tid] = max(delay, self._delays.get(tid, 0))
        self.longest_ns = max(self._delays.values(), default=0)
        self.sum_ns = sum(self._delays.values())
        if not self._looked:
            self._looked = True
            self._first_cpu_ns = cpu_ns
            self._first_run_times = dict(self._run_times)
            self._first_pressure_ns = bot.pressure_ns()

    @property
    def looked(self) -> bool:
        """True if ``look`` was called in this decision."""
        return self._looked

    def pressure_ns(self, bot: Running) -> int:
        """Return for how long at least one thread waited since the first look."""
        return max(self.longest_ns, bot.pressure_ns() - self._first_pressure_ns)

    def unseen_cpu_ns(self, cpu_ns: int) -> int:
        """Return the CPU time since the first look that no thread was seen to use.

        ``cpu_ns`` is the CPU time of the whole bot until now.
        """
        if not self._looked:
            return 0
        seen = sum(
            run_time - self._first_run_times.get(tid, 0)
            for tid, run_time in self._run_times.items()
        )
        return cpu_ns - self._first_cpu_ns - seen


class Stopwatch:
    """Measures the thinking time of one bot, decision after decision.

    The module's docstring has the steps in which a decision is charged.
    """

    def __init__(self, bot: Running, poll: TimedPoll) -> None:
        """Begin to measure; ``poll`` is what we use to wait for the bot."""
        self._bot = bot
        self._poll = poll
        self._slept_before_ns = poll.slept_ns
        self._started_ns = time.monotonic_ns()
        self._cpu_before_ns = bot.cpu_ns()
        self._cpu_now_ns = self._cpu_before_ns
        self._own_delay = OwnDelay()
        self._own_delay_ns = self._own_delay.read()
        self._processors_before = _PROCESSORS.read(_MAX_PROCESSORS_AGE_NS)
        self._threads = _ThreadDelays({})
        self._waiting: dict[int, int] | None = None
        self.last = Charge(0, 0, 0, 0)
        """The charge of the last decision that ended."""

    def start(self) -> None:
        """Begin a decision now."""
        self._processors_before = _PROCESSORS.read(_MAX_PROCESSORS_AGE_NS)
        self._started_ns = time.monotonic_ns()
        self._slept_before_ns = self._poll.slept_ns
        self._waiting = None
        if self._threads.looked:
            self._threads = _ThreadDelays(self._threads.total_delays)

    def thawed(self) -> None:
        """Note that the bot can run now: our own delay before that is not its time."""
        self._own_delay_ns = self._own_delay.read()

    def resume(self) -> None:
        """Note that we wait for the bot again, after a look at it.

        If it has still not answered, the time of the look is wall time. So a delay of
        our own thread during the look is none of the bot's.
        """
        self._poll.count_gap()
        self._own_delay_ns = self._own_delay.read()

    def read(self) -> Charge:
        """Return the charge of this decision until now. It may be called many times."""
        wall_ns = self._poll.slept_ns - self._slept_before_ns
        self._cpu_now_ns = self._bot.cpu_ns()
        cpu_ns = self._cpu_now_ns - self._cpu_before_ns
        waited_ns = 0
        if wall_ns - cpu_ns > _MAX_UNEXPLAINED_NS:
            self._threads.look(self._bot, self._cpu_now_ns)
            before_ns = self._own_delay_ns
            self._own_delay_ns = self._own_delay.read()
            own_ns = self._own_delay_ns - before_ns
            waited_ns = min(wall_ns, self._bot_waited_ns(cpu_ns) + own_ns)
        charged_ns = max(cpu_ns, wall_ns - waited_ns)
        return Charge(charged_ns / 1e6, cpu_ns / 1e6, wall_ns / 1e6, waited_ns / 1e6)

    def _bot_waited_ns(self, cpu_ns: int) -> int:
        """Return for how long the bot waited for a processor (steps 4 to 6)."""
        elapsed_ns = time.monotonic_ns() - self._started_ns
        idle_ns, stolen_ns = _PROCESSORS.read().since(self._processors_before)
        cap_ns = min(elapsed_ns - idle_ns, _MAX_WAIT_PER_CPU * cpu_ns)
        cap_ns += _PROCESSORS_ERROR_NS
        sum_ns = self._threads.sum_ns + stolen_ns
        return max(self._threads.longest_ns, min(sum_ns, cap_ns))

    def may_have_missed_delays(self, charge: Charge) -> bool:
        """True if threads that have ended may have waited longer than we saw.

        That is so if both hold: threads used more than 1 ms of CPU time that we did not
        see, and some thread waited for more than 5 % of the wall time. ``charge`` is
        the result of the last ``read``.
        """
        if self._threads.unseen_cpu_ns(self._cpu_now_ns) < _MAX_UNSEEN_CPU_NS:
            return False
        pressure_ms = self._threads.pressure_ns(self._bot) / 1e6
        return pressure_ms > _STARVED_SHARE * charge.wall_ms

    def all_delays_known(self) -> bool:
        """True if no thread still waits that waited at the first call.

        Call it again until it is true. The kernel counts a delay when the thread gets a
        processor, so each thread that was runnable at the first call must have run,
        have stopped waiting or have ended before a verdict is final.
        """
        run_times = {tid: schedstat(tid)[0] for tid in self._bot.threads()}
        if self._waiting is not None:
            run_times = dict(self._waiting.items() & run_times.items())
        self._waiting = {tid: ns for tid, ns in run_times.items() if runnable(tid)}
        return not self._waiting

    def forget_waiting_threads(self) -> None:
        """Let ``all_delays_known`` begin anew: some time was left after all."""
        self._waiting = None

    def stop(self) -> None:
        """End the decision and store its charge in ``last``.

        ``may_have_missed_delays`` can still be asked about this decision.
        """
        self.last = self.read()
        self._cpu_before_ns = self._cpu_now_ns

    def close(self) -> None:
        """Close the open files. ``last`` stays readable."""
        self._own_delay.close()
