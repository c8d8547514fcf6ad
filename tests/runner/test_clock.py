"""The fair clock: what a bot is charged, alone, frozen and on a busy machine."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.referee import Answer, PlayerFault, ServiceFault
from tests.runner.factories import HELLO, PROGRAMS, ask, player
from tests.runner.starvation import Starvation
from torres.runner import clock
from torres.runner.clock import Stopwatch
from torres.runner.polling import timed_poll
from torres.runner.process import BotProcess
from torres.runner.sandbox import Sandbox
from torres.runner.sandbox.proc import Processed, Processors

pytestmark = pytest.mark.sandbox

TRIES = 5  # of a measurement that a busy machine can only make smaller
StartLoops = Callable[[int], Starvation]


@pytest.fixture
def busy_loops() -> Iterator[StartLoops]:
    """Start n busy loops, beside which a bot gets 1 / (n + 1) of a processor."""
    with ExitStack() as stack:
        yield lambda loops: stack.enter_context(Starvation(loops))


def started(
    name: str,
    sandbox: Sandbox,
    starvation: Starvation | None = None,
    env: dict[str, str] | None = None,
) -> BotProcess:
    """Start a bot of ``programs/``. It is starved from its first decision on."""
    bot = player(PROGRAMS / f"{name}.py", sandbox, env=env)
    bot.start(HELLO)
    if starvation is not None:
        starvation.starve(bot)
    return bot


def answers(
    name: str,
    sandbox: Sandbox,
    starvation: Starvation | None = None,
    rounds: int = 5,
    **env: str,
) -> list[Answer]:
    """Return a bot's answers to ``rounds`` questions, each with ample time."""
    bot = started(name, sandbox, starvation, env)
    try:
        return [bot.decide(ask(move_ms=20_000)) for _ in range(rounds)]
    finally:
        bot.kill()


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def test_work_is_charged_as_cpu_time(full) -> None:
    for answer in answers("work", full, WORK_MS="50"):
        assert 49 < answer.cpu_ms < 65
        assert 49 < answer.ms < 90


@pytest.mark.deep  # its figures depend on the machine, so CI must not fail on them
def test_work_on_a_busy_machine_costs_the_same(full, busy_loops) -> None:
    starvation = busy_loops(6)
    charges = answers("work", full, starvation, rounds=7, WORK_MS="50")

    assert middle([answer.wall_ms for answer in charges]) > 80, f"beside {starvation}"
    assert middle([answer.ms for answer in charges]) < 62


def test_a_nap_is_charged_as_wall_time(full) -> None:
    # What the host or other programs take meanwhile is not charged, so the charge can
    # be less than the nap of 300 ms. It is never more, so one fair try is enough.
    found = []
    while len(found) < TRIES and not (found and found[-1] > 250):
        charges = answers("nap", full)
        assert all(answer.cpu_ms < 20 for answer in charges)
        found.append(middle([answer.ms for answer in charges]))
        assert found[-1] < 400

    assert found[-1] > 250, found


def test_threads_and_children_do_not_cheat_the_clock(full) -> None:
    for answer in answers("many_threads", full, rounds=3):
        assert answer.cpu_ms > 199  # 50 in each of four, in whatever order they ran
        assert answer.ms >= answer.cpu_ms


@pytest.mark.parametrize("name", ["ponder", "wakers"])
def test_a_frozen_bot_uses_no_processor(full, name) -> None:
    """A bot whose children wake each other all the time does not, either."""
    bot = started(name, full)
    bot.decide(ask())
    cpu_ns = []
    for _ in range(2):  # the first figure includes what ran before the freeze
        before = bot._bot.cpu_ns()
        subprocess.run(["sleep", "0.3"], check=True)
        cpu_ns.append(bot._bot.cpu_ns() - before)
    bot.kill()

    assert cpu_ns[1] < 1_000_000


def test_cpu_time_after_an_answer_is_charged_to_the_next_decision(full) -> None:
    bot = started("ponder", full)
    charges = [bot.decide(ask()).ms for _ in range(20)]
    cpu = bot._bot.cpu_ns() / 1e6
    bot.kill()

    assert sum(charges) > 0
    assert cpu >= sum(charges) * 0.2  # nothing is lost between the decisions


def test_a_bot_out_of_time_is_not_saved_by_a_busy_machine(full, busy_loops) -> None:
    starvation = busy_loops(6)
    bot = started("spin", full, starvation)

    with pytest.raises(PlayerFault, match="timeout"):
        bot.decide(ask(move_ms=200))

    assert bot.verdict is not None
    assert bot.verdict.charge is not None
    assert 199 < bot.verdict.charge.ms < 300


def test_a_waiting_thread_is_not_judged_before_it_has_run(full, busy_loops) -> None:
    """Many times in a decision, a single wait is longer than the time that is left."""
    starvation = busy_loops(6)
    bot = started("work", full, starvation, {"WORK_MS": "60"})
    charges = [bot.decide(ask(move_ms=76)) for _ in range(5)]
    bot.kill()

    assert middle([answer.wall_ms for answer in charges]) > 120, f"beside {starvation}"
    assert all(answer.ms < 76 for answer in charges)


def test_work_handed_from_thread_to_thread_costs_the_same(full, busy_loops) -> None:
    """The runtime of Go works so: each thread waits for a part of the whole wait."""
    starvation = busy_loops(3)
    bot = started("relay", full, starvation)
    charges = [bot.decide(ask(move_ms=110)) for _ in range(5)]
    bot.kill()

    assert middle([answer.wall_ms for answer in charges]) > 120, f"beside {starvation}"
    assert all(answer.cpu_ms > 47 for answer in charges)


def test_waits_of_many_threads_count_only_while_all_processors_are_busy(
    full, busy_loops, monkeypatch
) -> None:
    """Otherwise waits of many threads at the same time would pay for a long sleep."""
    starvation = busy_loops(6)
    monkeypatch.setattr(clock, "_PROCESSORS", IdleProcessors())
    charges = answers("relay", full, starvation)

    assert middle([answer.wall_ms for answer in charges]) > 120, f"beside {starvation}"
    assert middle([answer.ms for answer in charges]) > 100, f"beside {starvation}"


class IdleProcessors(Processors):
    """Processors that never do anything."""

    def read(self, stale_ns: int = 0) -> Processed:
        return Processed((time.monotonic_ns(),) * 2, (0, 0))


class StolenProcessors(Processors):
    """Processors of which the host takes four fifths."""

    def read(self, stale_ns: int = 0) -> Processed:
        return Processed((0,), (time.monotonic_ns() * 4 // 5,))


def test_time_that_a_host_takes_from_its_virtual_machine_is_not_charged(
    full, monkeypatch
) -> None:
    monkeypatch.setattr(clock, "_PROCESSORS", StolenProcessors())
    # On a busy machine our own delays are taken off the wall time of some answers.
    longest = 0.0
    for _ in range(TRIES):
        bot = started("tired", full)
        answers = [bot.decide(ask(move_ms=200)) for _ in range(5)]
        bot.kill()
        assert all(answer.ms < 200 for answer in answers)
        longest = max(longest, *(answer.wall_ms for answer in answers))
        if longest > 340:
            break

    assert longest > 340


def test_idle_and_stolen_time_is_read_from_the_kernel_s_file(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\n"
        "cpu0 90 0 9 100 5 0 0 7 0 0\n"
        "cpu1 90 0 9 300 5 0 0 8 0 0\n"
        "intr 5 5 5 5 5 5 5 5 5 5 5\n"
    )
    before = Processors(stat).read()
    stat.write_text(stat.read_text().replace("300 5 0 0 8", "303 7 0 0 19"))

    assert Processors(stat).read().since(before) == (0, 110_000_000)
    assert Processors(tmp_path / "none").read().since(before) == (0, 0)
    assert Processors().read().since(Processors().read()) >= (0, 0)


def test_waiting_counts_for_at_most_a_multiple_of_the_cpu_time(
    full, monkeypatch
) -> None:
    """Otherwise a thread that wakes now and then, on a busy machine, could sleep."""
    monkeypatch.setattr(clock, "_PROCESSORS", StolenProcessors())
    charges = answers("nap", full)

    # A busy machine slows the bot's own steps, and a multiple of them is taken off.
    assert max(answer.ms for answer in charges) > 200


@pytest.mark.slow
def test_unseen_waits_of_ended_threads_are_never_the_bot_s_fault(
    full, busy_loops
) -> None:
    """A thread's waiting time is lost when it ends: the attempt fails, not the bot.

    The bot needs 50 ms of CPU time in fifty short threads, and some more to start
    them: how much depends on the machine. Its budget is larger than that.
    """
    starvation = busy_loops(12)
    bot = started("short_threads", full, starvation)
    bot.decide(ask(move_ms=5_000))  # it imports modules
    cpu_ms = [bot.decide(ask(move_ms=5_000)).cpu_ms for _ in range(3)]
    bot.kill()
    move_ms = int(1.2 * max(cpu_ms))
    unjudged = 0
    charges = []
    for _ in range(5):
        bot = started("short_threads", full, starvation)
        try:
            charges += [bot.decide(ask(move_ms=move_ms)) for _ in range(3)]
        except ServiceFault as why:
            assert "threads of it have ended" in str(why)  # noqa: PT017
            unjudged += 1
        bot.kill()

    assert all(charge.ms <= move_ms for charge in charges)
    assert unjudged > 0, f"beside {starvation}"


def test_a_bot_that_sleeps_on_a_busy_machine_still_forfeits(full, busy_loops) -> None:
    # What the host takes meanwhile is not charged, so one fair try is enough.
    starvation = busy_loops(6)
    charges = []
    for _ in range(TRIES):
        bot = started("nap", full, starvation)
        try:
            charges.append(bot.decide(ask(move_ms=50)).ms)
        except PlayerFault as fault:
            assert "timeout" in str(fault)  # noqa: PT017
            return
        finally:
            bot.kill()
    pytest.fail(f"charged {charges} ms for naps of 300 ms")


def test_the_stopwatch_counts_from_its_start(full) -> None:
    bot = started("first", full)
    watch = Stopwatch(bot._bot, timed_poll())
    watch.start()
    assert watch.read().ms < 100
    bot.kill()


HELD_S = 0.003  # longer than an answer takes if nobody holds the lock


def spin(running: threading.Semaphore, stop: threading.Event) -> None:
    running.release()
    while not stop.is_set():
        sum(range(1000))


@pytest.fixture
def slow_lock() -> Iterator[None]:
    """A thread keeps the interpreter lock for 10 ms while others wait for it."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(0.01)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("slow_lock")
def test_threads_that_hold_our_interpreter_lock_cost_the_bot_nothing(full) -> None:
    """A worker folds ratings and encodes messages while it waits for bots."""
    bot = started("first", full)
    stop = threading.Event()
    running = threading.Semaphore(0)
    busy = [threading.Thread(target=spin, args=[running, stop]) for _ in range(3)]
    for thread in busy:
        thread.start()
    for _ in busy:  # on a busy machine a thread may begin after all decisions
        running.acquire()
    charges = []
    for _ in range(1_000):  # the threads do not get the lock each time
        began = time.monotonic()
        charge = bot.decide(ask()).ms
        if time.monotonic() - began > HELD_S:
            charges.append(charge)
        if len(charges) == 10:
            break
    stop.set()
    for thread in busy:
        thread.join()
    bot.kill()

    # An answer alone takes less than 1 ms.
    assert len(charges) == 10, "the threads did not hold the lock"
    assert sum(charges) / len(charges) < 2
    assert max(charges) < 10


def test_a_worker_that_is_stopped_forfeits_no_bot(full) -> None:
    """A container is frozen or a host is suspended while a bot of ours thinks."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.runner.slow_decisions", "8", "500"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    for _ in range(4):
        assert worker.stdout.readline() == "decision\n"
        worker.send_signal(signal.SIGSTOP)
        threading.Event().wait(2)  # the bot has 500 ms, and naps for 300
        worker.send_signal(signal.SIGCONT)
        worker.stdout.readline()  # perhaps a decision that no pause interrupts
    out, _ = worker.communicate(timeout=60)

    assert worker.returncode == 0, out
    assert max(float(ms) for ms in out.split()[-8:]) < 500
