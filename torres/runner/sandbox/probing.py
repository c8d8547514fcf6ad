"""Test the limits of a sandbox: real bots make real attempts to get out.

Nothing is concluded from versions or settings of the machine, because those have been
wrong too often. Each control names the barrier that stopped the attempt, or the
success. The programs of these bots are in ``probes``.
"""

import contextlib
import json
import os
import secrets
import select
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.pause import pause
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Control, Program, Running, Sandbox
from torres.runner.sandbox.proc import wait_for_exit

FILES = Path(__file__).parent / "probes"
LIMITS = Limits(memory_mb=64, pids=16)
_TIMEOUT_S = 60.0
"""A worker may start on a machine that is busy with other games."""
_SAMPLE_S = 0.05
_STOPPED_WITHIN_S = 2.0
"""On a busy machine the threads of gVisor, some fifty, stop one after the other."""
_MIN_CPU_NS = 50_000_000
"""The CPU time that the spinning bot must use before it is frozen."""
_CURE_NAMESPACE = (
    "the sandbox has no {} namespace; check the security options of this host"
)
_CONTROLS = {
    "network": ("network", _CURE_NAMESPACE.format("network")),
    "other_sockets": ("sockets", "libseccomp2 must be installed"),
    "processes": ("other processes", _CURE_NAMESPACE.format("PID")),
    "environment": ("environment", _CURE_NAMESPACE.format("PID")),
    "host_files": (
        "files of the host",
        _CURE_NAMESPACE.format("mount"),
    ),
    "system_files": (
        "write protection",
        _CURE_NAMESPACE.format("mount"),
    ),
    "privileges": ("privileges", "bwrap must not run as root of the host"),
    "namespaces": ("user namespaces", "bwrap 0.8 or newer and libseccomp2 are needed"),
    "system_calls": ("system calls", "libseccomp2 must be installed"),
    "process_limit": ("process limit", "control groups, or Linux 5.14, are needed"),
}
"""For each attempt of probes/bot.py: the name of the control, and the cure."""
_UNFINISHED = "the attempt did not end"
NEED_CGROUPS = "control groups"
"""The cure of a control that needs control groups; ``opening`` says how to get them."""
START = "sandbox start"
"""The name of the control that fails if a sandbox cannot start anything."""


def try_controls(sandbox: Sandbox) -> list[Control]:
    """Try each control. If nothing can be started, return only the failed start."""
    try:
        controls = _try_attempts(sandbox)
        controls.append(_try_memory_limit(sandbox))
        controls += _try_freezing(sandbox)
    except ServiceFault as why:
        return [Control(START, held=False, how=str(why))]
    return controls


def can_start(sandbox: Sandbox) -> bool:
    """True if the sandbox can start a program at all."""
    program = Program(FILES, "bot.py", "executable", ("/usr/bin/printf", "yes"))
    try:
        with _started(sandbox, program) as bot:
            return _output(bot) == "yes"
    except ServiceFault:
        return False


def _try_attempts(sandbox: Sandbox) -> list[Control]:
    """Let a bot make its attempts, and another one if they did not all end.

    The kernel of gVisor sometimes hangs when the host refuses it a thread. A worker
    keeps its report for as long as it runs, so a hang must not decide its level.
    """
    controls = _make_attempts(sandbox)
    if any(control.how == _UNFINISHED for control in controls):
        return _make_attempts(sandbox)
    return controls


def _make_attempts(sandbox: Sandbox) -> list[Control]:
    """Let probes/bot.py make its attempts; return a control for each."""
    key = secrets.token_hex(8)
    os.environ["TORRES_PROBE"] = key
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tempfile.NamedTemporaryFile("w", prefix="torres-probe-") as secret,
    ):
        secret.write("a secret of the worker")
        secret.flush()
        Path(secret.name).chmod(0o644)
        port = str(server.getsockname()[1])
        argv = (str(os.getpid()), port, secret.name, key, str(LIMITS.pids + 4))
        try:
            with _started(sandbox, _probe("bot.py", *argv)) as bot:
                output = _output(bot)
                refused = bot.counters().get("forks_refused", 0)
                at_limit = refused > 0 or bot.over_memory()
        finally:
            del os.environ["TORRES_PROBE"]
    controls = [_control(line) for line in output.splitlines()]
    return controls + _unfinished(output, at_limit=at_limit)


def _control(line: str) -> Control:
    report = json.loads(line)
    name, cure = _CONTROLS[report["name"]]
    return Control(name, report["held"], report["how"], cure)


def _unfinished(output: str, *, at_limit: bool) -> list[Control]:
    """Return a control for each attempt that is missing in the output.

    It failed, unless it was the one that makes processes, and the whole bot ended
    ``at_limit``. gVisor does not refuse the fork, and its kernel ends when the host
    refuses it a thread or memory.
    """
    return [
        Control(name, held=True, how="the bot ended at its limit")
        if key == "process_limit" and at_limit
        else Control(name, held=False, how=_UNFINISHED, cure=cure)
        for key, (name, cure) in _CONTROLS.items()
        if f'"{key}"' not in output
    ]


def _try_memory_limit(sandbox: Sandbox) -> Control:
    with _started(sandbox, _probe("hog.py", str(4 * LIMITS.memory_mb))) as bot:
        output = _read(bot)
        over_memory = bot.over_memory()
    if over_memory:
        return Control("memory limit", held=True, how="killed at its limit")
    how = {
        b"REFUSED": "each process is limited, but not all of a bot together",
        b"THROUGH": "it got four times its limit",
    }.get(output.strip(), "it ended for an unknown reason")
    return Control("memory limit", held=False, how=how, cure=NEED_CGROUPS)


def _try_freezing(sandbox: Sandbox) -> list[Control]:
    """Let a bot spin, then freeze it for as long, then kill it.

    1. Wait until the bot has used ``_MIN_CPU_NS``; on a busy machine that takes long.
    2. Freeze the bot, and measure its CPU time over the same wall time.
    3. Kill the bot, and check that none of its threads is left.
    """
    with _started(sandbox, _probe("spin.py")) as bot:
        _read(bot, until=b"\n")
        began = time.monotonic()
        busy = 0
        while busy < _MIN_CPU_NS and time.monotonic() < began + _TIMEOUT_S:
            busy += _cpu_used(bot, _SAMPLE_S)
        wall = time.monotonic() - began
        bot.freeze()
        until = time.monotonic() + _STOPPED_WITHIN_S
        while _cpu_used(bot, _SAMPLE_S) and time.monotonic() < until:
            pass
        frozen = _cpu_used(bot, wall)
        pids = bot.threads()
        bot.kill()
    counted = busy >= _MIN_CPU_NS
    return [
        Control(
            "processor time",
            held=counted,
            how=f"{busy / 1e6:.1f} ms counted",
            cure=NEED_CGROUPS,
        ),
        Control(
            "freezing",
            held=counted and frozen < busy / 20,
            how=f"{frozen / 1e6:.1f} ms used while frozen, {busy / 1e6:.1f} ms before",
            cure=NEED_CGROUPS,
        ),
        Control(
            "ending",
            held=not any(Path(f"/proc/{pid}").exists() for pid in pids),
            how="nothing was left after the end",
        ),
    ]


def _cpu_used(bot: Running, seconds: float) -> int:
    """Wait, and return the CPU time that the bot used meanwhile, in ns."""
    before = bot.cpu_ns()
    pause(seconds)
    return bot.cpu_ns() - before


def _probe(entry: str, *arguments: str) -> Program:
    argv = ("/usr/bin/python3", "-I", "-S", "-u", entry, *arguments)
    return Program(FILES, entry, "python", argv)


def _output(bot: Running) -> str:
    """Return what a program writes. Raises ServiceFault if it writes nothing."""
    output = _read(bot).decode(errors="replace")
    if not output:
        wait_for_exit(bot.pid, 1_000)
        with contextlib.suppress(BlockingIOError):
            errors = os.read(bot.stderr, 4096).decode(errors="replace")
            message = " ".join(errors.split())[-300:]
            raise ServiceFault(message or "the program wrote nothing")
    return output


@contextlib.contextmanager
def _started(sandbox: Sandbox, program: Program) -> Iterator[Running]:
    bot = sandbox.start(program, LIMITS)
    try:
        yield bot
    finally:
        bot.kill()
        for fd in (bot.stdin, bot.stdout, bot.stderr):
            os.close(fd)


def _read(bot: Running, until: bytes | None = None) -> bytes:
    """Return the bot's output until the bot ends or the output ends with ``until``."""
    output = b""
    deadline = time.monotonic() + _TIMEOUT_S
    poll = select.poll()
    poll.register(bot.stdout, select.POLLIN)
    while True:
        seconds = deadline - time.monotonic()
        if seconds <= 0 or not poll.poll(seconds * 1000):
            break
        chunk = os.read(bot.stdout, 65_536)
        output += chunk
        if not chunk or (until is not None and output.endswith(until)):
            break
    return output
