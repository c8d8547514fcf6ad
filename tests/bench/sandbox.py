"""The cost of the sandbox: its start, its controls, the referee's side of a decision.

Each row is measured next to a floor in the same run. The figures are the fastest tenth
of many tries: on a shared machine the others measure the neighbours.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine.referee import Ask, Hello
from tests.bench.sizes import size
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Program, Running, Sandbox, open_sandbox

PROGRAMS = Path(__file__).parents[1] / "runner" / "programs"
HELLO = Hello("yucata", {}, seats=2, seat=0, seed="seed", limits={})
STARTS = size(100, short=2)
BATCHES = size(60, short=2)
CALLS_PER_BATCH = size(40, short=5)
FREEZES = size(500, short=5)
BARE = {"LANG": "C.UTF-8"}  # as in the sandbox: without it, printf does less
PYTHON = ("/usr/bin/python3", "-I", "-u", "-c", "print()")


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One line of the table; ``value`` and ``most`` share ``unit``."""

    name: str
    value: float
    most: float
    unit: str
    floor: str = ""

    @property
    def held(self) -> bool:
        return self.value <= self.most


def fastest_tenth(values: list[float]) -> float:
    """Return the value that a tenth of the tries did not exceed."""
    return sorted(values)[len(values) // 10]


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def rows() -> list[BenchRow]:
    sandbox = open_sandbox("full")
    try:
        spent = Spent()
        decide(sandbox, spent)
        rows = starts(sandbox)
        decide(sandbox, spent)
        rows += controls(sandbox)
        decide(sandbox, spent)
        return [*rows, *spent.rows()]
    finally:
        sandbox.close()


@contextmanager
def awake() -> Iterator[None]:
    """Keep each CPU awake with a program that yields to any other.

    A virtual CPU that sleeps is woken by its host, which takes up to 20 µs. That is the
    host's time, and on a server with more bots than CPUs no CPU sleeps.
    """
    spin = (
        "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\n"
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
        "while True: pass"
    )
    argv = (sys.executable, "-I", "-S", "-c", spin)
    mine = os.sched_getaffinity(0)
    spinners = [subprocess.Popen([*argv, str(cpu)]) for cpu in mine]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, number, target, True if the target is met)."""
    return [
        (
            f"{row.name}, {row.unit}" + (f" ({row.floor})" if row.floor else ""),
            row.value,
            f"≤ {row.most:g}",
            row.held,
        )
        for row in rows()
    ]


def starts(sandbox: Sandbox) -> list[BenchRow]:
    """Return the time from the call to the first byte: an empty program, and Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        return [
            *start_of(sandbox, folder, ("/usr/bin/printf", "x"), "an empty program"),
            *start_of(sandbox, folder, PYTHON, "Python"),
        ]


def start_of(
    sandbox: Sandbox, folder: Path, argv: tuple[str, ...], what: str
) -> list[BenchRow]:
    program = Program(folder, argv[0], "executable", argv)
    plain, boxed = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        with subprocess.Popen(argv, env=BARE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.read(1)
            plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        bot = sandbox.start(program, Limits())
        wait(bot.stdout)
        boxed.append(time.perf_counter() - began)
        end(bot)
    floor = fastest_tenth(plain)
    ours = fastest_tenth(boxed)
    name = f"sandboxed start of {what}"
    ratio = BenchRow(
        f"{name}, against fork and exec",
        ours / floor,
        5.0,
        "times",
        f"{ours * 1e3:.2f} to {floor * 1e3:.2f} ms",
    )
    if what == "Python":
        return [ratio]
    return [BenchRow(name, ours * 1e3, 10.0, "ms"), ratio]


def controls(sandbox: Sandbox) -> list[BenchRow]:
    player = BotProcess(locate(PROGRAMS / "ponder.py"), sandbox)
    player.start(HELLO)
    bot = player._bot
    freeze, thaw = [], []
    for _ in range(FREEZES):
        thaw.append(timed(bot.thaw))
        freeze.append(timed(bot.freeze))
    player.kill()
    return [
        BenchRow("freeze, median", middle(freeze) * 1e3, 1.0, "ms"),
        BenchRow("thaw, median", middle(thaw) * 1e3, 1.0, "ms"),
    ]


@dataclass(slots=True)
class Spent:
    """CPU seconds of our thread for each decision, and for each raw round trip.

    `inside` is the part of `whole` that the sandbox's controls need.
    """

    whole: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    def rows(self) -> list[BenchRow]:
        controls = fastest_tenth(self.inside)
        return [
            BenchRow(
                "referee's side of a decision, processor time",
                (fastest_tenth(self.whole) - controls) * 1e6,
                20.0,
                "us",
                f"raw pipe {fastest_tenth(self.floor) * 1e6:.1f} us",
            ),
            BenchRow("sandbox controls, processor time", controls * 1e6, 200.0, "us"),
        ]


def decide(sandbox: Sandbox, spent: Spent) -> None:
    """Measure decisions, the sandbox's controls in them, and then the raw pipe.

    The controls are measured in real decisions, because it costs more to thaw a bot
    that has work than one that has none. Call this several times with some seconds in
    between: a shared machine is slow for seconds at a time.
    """
    player = BotProcess(locate(PROGRAMS / "first.py"), sandbox)
    player.start(HELLO)
    ask = Ask("turn", 9, state_of_2_kb(), [], ["end"], 5_000, 5_000)
    with awake():
        for _ in range(200):
            player.decide(ask)
        for _ in range(BATCHES):
            spent.whole.append(batch(lambda: player.decide(ask)))
            with clocked(player) as inside:
                batch(lambda: player.decide(ask))
            spent.inside.append(inside[0] / CALLS_PER_BATCH / 1e9)
        player.kill()
        spent.floor += round_trips()


@contextmanager
def clocked(player: BotProcess) -> Iterator[list[int]]:
    """Yield a counter of CPU ns in the sandbox's controls, without the overhead."""
    bot = player._bot
    watch = player._watch
    controls = [(watch, "start"), (bot, "thaw"), (watch, "thawed")]
    controls += [(bot, "freeze"), (watch, "stop"), (bot, "over_memory")]
    spent = [0]
    now = time.thread_time_ns

    def clock(call: Callable[[], object]) -> Callable[[], object]:
        def timed() -> object:
            began = now()
            result = call()
            spent[0] += now() - began - overhead
            return result

        return timed

    overhead = 0
    empty_call = clock(lambda: None)
    for _ in range(1_000):
        empty_call()
    overhead = spent[0] // 1_000
    spent[0] = 0
    originals = [(owner, name, getattr(owner, name)) for owner, name in controls]
    for owner, name, call in originals:
        setattr(owner, name, clock(call))
    try:
        yield spent
    finally:
        for owner, name, call in originals:
            setattr(owner, name, call)


def state_of_2_kb() -> dict[str, object]:
    heights = [[3] * 8 for _ in range(8)]
    knights = [[f"{column}{row}" for column in "abcdef"] for row in (1, 2, 3, 4)]
    state: dict[str, object] = {"phase": 1, "heights": heights, "knights": knights}
    state["discards"] = [["under_knight", "move_block", "extra_block"] * 10] * 4
    return state


def round_trips() -> list[float]:
    """Return the CPU seconds of a line to `cat` and back over plain pipes."""
    argv = ("/usr/bin/cat", "-u")
    with subprocess.Popen(argv, stdin=-1, stdout=-1, bufsize=0) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        into = cat.stdin.fileno()
        out = cat.stdout.fileno()

        def round_trip() -> None:
            os.write(into, b"x" * 2_000)
            os.read(out, 65_536)

        spent = [batch(round_trip) for _ in range(BATCHES)]
        cat.kill()
    return spent


def batch(call: Callable[[], object]) -> float:
    """Return the CPU seconds of one call, as the mean of a batch."""
    before = time.thread_time()
    for _ in range(CALLS_PER_BATCH):
        call()
    return (time.thread_time() - before) / CALLS_PER_BATCH


def timed(call: Callable[[], object]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def wait(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(10_000)


def end(bot: Running) -> None:
    bot.kill()
    for fd in (bot.stdin, bot.stdout, bot.stderr):
        os.close(fd)


def main() -> None:
    for row in rows():
        mark = "ok" if row.held else "TOO MUCH"
        bound = f"{row.value:8.2f} {row.unit:5} <= {row.most:g}"
        print(f"{row.name:58} {bound:24} {mark:9} {row.floor}")


if __name__ == "__main__":
    main()
