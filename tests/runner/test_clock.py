"""The fair clock: what a bot is charged, alone, frozen and on a busy machine."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.referee import Answer, PlayerFault, ServiceFault
from ladder.runner import clock
from ladder.runner.clock import Stopwatch
from ladder.runner.sandbox import Sandbox
from ladder.runner.sandbox.proc import Processed, Processors
from tests.runner.factories import HELLO, PROGRAMS, ask, player

pytestmark = pytest.mark.sandbox


@pytest.fixture
def busy() -> Iterator[None]:
    """Other programs keep all processors busy, three for each."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(3 * (os.cpu_count() or 1))
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


def answers(name: str, sandbox: Sandbox, rounds: int = 5, **env: str) -> list[Answer]:
    bot = player(PROGRAMS / f"{name}.py", sandbox, env=env)
    bot.start(HELLO)
    try:
        return [bot.decide(ask(move_ms=20_000)) for _ in range(rounds)]
    finally:
        bot.kill()


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def test_work_is_charged_as_processor_time(full) -> None:
    for answer in answers("work", full, WORK_MS="50"):
        assert 49 < answer.cpu_ms < 65
        assert 49 < answer.ms < 90


@pytest.mark.slow  # its figures are the machine's, too: not a thing to fail CI
def test_work_on_a_busy_machine_costs_the_same(full, busy) -> None:
    found = answers("work", full, rounds=7, WORK_MS="50")

    assert middle([answer.wall_ms for answer in found]) > 80  # it had to wait
    assert middle([answer.ms for answer in found]) < 62


def test_a_nap_is_charged_as_wall_time(full) -> None:
    found = answers("nap", full)

    assert all(answer.cpu_ms < 20 for answer in found)
    # What a host takes from its virtual machine meanwhile is not charged.
    assert 250 < middle([answer.ms for answer in found]) < 400


def test_threads_and_children_do_not_cheat_the_clock(full) -> None:
    for answer in answers("many_threads", full, rounds=3):
        assert answer.cpu_ms > 199  # four times 50, whoever waited for whom
        assert answer.ms >= answer.cpu_ms


@pytest.mark.parametrize("name", ["ponder", "wakers"])
def test_a_frozen_bot_uses_no_processor(full, name) -> None:
    """Trap T4: not even with children that wake all the time."""
    bot = player(PROGRAMS / f"{name}.py", full)
    bot.start(HELLO)
    bot.decide(ask())
    burnt = []
    for _ in range(2):  # the first look counts what ran before the freeze
        before = bot._bot.cpu_ns()
        subprocess.run(["sleep", "0.3"], check=True)
        burnt.append(bot._bot.cpu_ns() - before)
    bot.kill()

    assert burnt[1] < 1_000_000


def test_what_it_burns_after_its_answer_is_charged_to_the_next(full) -> None:
    bot = player(PROGRAMS / "ponder.py", full)
    bot.start(HELLO)
    charges = [bot.decide(ask()).ms for _ in range(20)]
    cpu = bot._bot.cpu_ns() / 1e6
    bot.kill()

    assert sum(charges) > 0
    assert cpu >= sum(charges) * 0.2  # nothing is lost between the decisions


def test_a_bot_out_of_time_is_not_saved_by_a_busy_machine(full, busy) -> None:
    bot = player(PROGRAMS / "spin.py", full)
    bot.start(HELLO)

    with pytest.raises(PlayerFault, match="timeout"):
        bot.decide(ask(move_ms=200))

    assert bot.verdict is not None
    assert bot.verdict.charge is not None
    assert 199 < bot.verdict.charge.ms < 300


def test_a_waiting_thread_is_not_judged_before_it_has_run(full, busy) -> None:
    """Here each wait is longer than what is left, many times in a decision."""
    bot = player(PROGRAMS / "work.py", full, env={"WORK_MS": "60"})
    bot.start(HELLO)
    for _ in range(5):
        assert bot.decide(ask(move_ms=76)).ms < 76
    bot.kill()


def test_work_handed_from_thread_to_thread_costs_the_same(full, busy) -> None:
    """So Go may work: each thread waits for a part of the time, none for all of it."""
    bot = player(PROGRAMS / "relay.py", full)
    bot.start(HELLO)
    found = [bot.decide(ask(move_ms=110)) for _ in range(5)]
    bot.kill()

    assert all(answer.cpu_ms > 47 for answer in found)


def test_no_thread_waits_where_a_processor_has_nothing_to_do(
    full, busy, monkeypatch
) -> None:
    """Else the waits of many threads at the same time would pay for a long sleep."""
    monkeypatch.setattr(clock, "_PROCESSORS", Idle())
    found = [answer.ms for answer in answers("relay", full)]

    assert middle(found) > 100


class Idle(Processors):
    """Processors that never do anything."""

    def read(self, stale_ns: int = 0) -> Processed:
        return Processed((time.monotonic_ns(),) * 2, (0, 0))


class Robbed(Processors):
    """Processors of which the host takes four fifths."""

    def read(self, stale_ns: int = 0) -> Processed:
        return Processed((0,), (time.monotonic_ns() * 4 // 5,))


def test_what_the_host_takes_from_its_virtual_machine_is_no_thinking(
    full, monkeypatch
) -> None:
    monkeypatch.setattr(clock, "_PROCESSORS", Robbed())
    bot = player(PROGRAMS / "tired.py", full)
    bot.start(HELLO)
    answer = bot.decide(ask(move_ms=200))
    bot.kill()

    assert answer.wall_ms > 340
    assert answer.ms < 200


def test_what_processors_did_is_read_from_the_kernel_s_file(tmp_path: Path) -> None:
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


def test_who_hardly_computes_is_hardly_kept_from_it(full, monkeypatch) -> None:
    """Else what wakes now and then, on a busy machine, would pay for any sleep."""
    monkeypatch.setattr(clock, "_PROCESSORS", Robbed())
    found = answers("nap", full)

    assert middle([answer.ms for answer in found]) > 200


def test_threads_that_ended_while_starved_are_never_the_bot_s_fault(full, busy) -> None:
    """What they waited is lost with them; then it cannot be said whose fault it is."""
    ours, charges = 0, []
    for _ in range(10):
        bot = player(PROGRAMS / "short_threads.py", full)
        bot.start(HELLO)
        try:  # twice what it needs
            charges += [bot.decide(ask(move_ms=100)) for _ in range(3)]
        except ServiceFault as why:
            assert "threads of it have ended" in str(why)  # noqa: PT017
            ours += 1
        bot.kill()

    assert all(charge.ms <= 100 for charge in charges)
    assert ours > 0


def test_who_sleeps_on_a_starved_worker_still_forfeits(full, busy) -> None:
    bot = player(PROGRAMS / "nap.py", full)
    bot.start(HELLO)

    with pytest.raises(PlayerFault, match="timeout"):
        bot.decide(ask(move_ms=50))
    bot.kill()


def test_the_stopwatch_counts_from_its_start(full) -> None:
    bot = player(PROGRAMS / "first.py", full)
    bot.start(HELLO)
    watch = Stopwatch(bot._bot)
    watch.start()
    assert watch.read().ms < 100
    bot.kill()
