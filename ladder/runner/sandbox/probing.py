"""Trying what a sandbox holds: real bots make real attempts, and are looked at.

Nothing is concluded from versions or settings of the machine, because those have
been wrong too often; where an attempt is held, it says what stopped it.
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
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Control, Program, Running, Sandbox
from ladder.runner.sandbox.proc import wait_for_exit

FILES = Path(__file__).parent / "probes"
LIMITS = Limits(memory_mb=64, pids=16)
_PATIENCE_S = 20.0
_LOOK_S = 0.05
_BURN_NS = 50_000_000
_MEANING = {
    "network": ("network", "the box has no network namespace of its own"),
    "other_sockets": ("sockets", "libseccomp2 must be installed"),
    "processes": ("other processes", "the box has no process namespace of its own"),
    "environment": ("environment", "the box has no process namespace of its own"),
    "host_files": ("files of the host", "the box has no mount namespace of its own"),
    "system_files": ("write protection", "the box has no mount namespace of its own"),
    "privileges": ("privileges", "bwrap must not run as root of the host"),
    "namespaces": ("user namespaces", "bwrap 0.8 or newer and libseccomp2 are needed"),
    "system_calls": ("system calls", "libseccomp2 must be installed"),
    "process_limit": ("process limit", "control groups, or Linux 5.14, are needed"),
}
NEED_GROUPS = "control groups"
"""The cure of what only control groups can do; ``opening`` knows how to get them."""


def try_out(sandbox: Sandbox) -> list[Control]:
    """Return what each control did when it was tried. A box that fails is one, too."""
    try:
        controls = _attempts(sandbox)
        controls.append(_memory(sandbox))
        controls += _freezing(sandbox)
    except ServiceFault as why:
        return [Control("a box", held=False, how=str(why))]
    return controls


def makes_boxes(sandbox: Sandbox) -> bool:
    """Return whether the sandbox can start anything at all."""
    box = Program(FILES, "bot.py", "executable", ("/usr/bin/printf", "yes"))
    try:
        return _run(sandbox, box) == "yes"
    except ServiceFault:
        return False


def _attempts(sandbox: Sandbox) -> list[Control]:
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
            said = _run(sandbox, _box("bot.py", *argv))
        finally:
            del os.environ["TORRES_PROBE"]
    return [_control(line) for line in said.splitlines()] + _missing(said)


def _control(line: str) -> Control:
    said = json.loads(line)
    name, cure = _MEANING[said["name"]]
    return Control(name, said["held"], said["how"], cure)


def _missing(said: str) -> list[Control]:
    return [
        Control(name, held=False, how="the attempt did not end", cure=cure)
        for key, (name, cure) in _MEANING.items()
        if f'"{key}"' not in said
    ]


def _memory(sandbox: Sandbox) -> Control:
    with _started(sandbox, _box("hog.py", str(4 * LIMITS.memory_mb))) as bot:
        said = _read(bot)
        over = bot.over_memory()
    if over:
        return Control("memory limit", held=True, how="killed at its limit")
    how = "four times the limit was there" if said else "it ended, but nobody knows why"
    return Control("memory limit", held=False, how=how, cure=NEED_GROUPS)


def _freezing(sandbox: Sandbox) -> list[Control]:
    with _started(sandbox, _box("spin.py")) as bot:
        _read(bot, until=b"\n")
        # On a busy machine it takes its time until it has burnt so much.
        began, busy = time.monotonic(), 0
        while busy < _BURN_NS and time.monotonic() < began + _PATIENCE_S:
            busy += _burnt(bot, _LOOK_S)
        took = time.monotonic() - began
        bot.freeze()
        _burnt(bot, _LOOK_S)
        frozen = _burnt(bot, took)
        pids = bot.threads()
        bot.kill()
    clock = busy >= _BURN_NS
    return [
        Control("processor time", clock, f"{busy / 1e6:.1f} ms counted", NEED_GROUPS),
        Control(
            "freezing",
            held=clock and frozen < busy / 20,
            how=f"{frozen / 1e6:.1f} ms used while frozen, {busy / 1e6:.1f} ms before",
            cure=NEED_GROUPS,
        ),
        Control(
            "ending",
            held=not any(Path(f"/proc/{pid}").exists() for pid in pids),
            how="nothing was left after the end",
        ),
    ]


def _burnt(bot: Running, seconds: float) -> int:
    before = bot.cpu_ns()
    select.select([], [], [], seconds)
    return bot.cpu_ns() - before


def _box(entry: str, *arguments: str) -> Program:
    argv = ("/usr/bin/python3", "-I", "-S", "-u", entry, *arguments)
    return Program(FILES, entry, "python", argv)


def _run(sandbox: Sandbox, box: Program) -> str:
    with _started(sandbox, box) as bot:
        said = _read(bot).decode(errors="replace")
        if not said:
            wait_for_exit(bot.pid, 1_000)
            with contextlib.suppress(BlockingIOError):
                why = os.read(bot.stderr, 4096).decode(errors="replace")
                raise ServiceFault(" ".join(why.split())[-300:] or "it said nothing")
        return said


@contextlib.contextmanager
def _started(sandbox: Sandbox, box: Program) -> Iterator[Running]:
    bot = sandbox.start(box, LIMITS)
    try:
        yield bot
    finally:
        bot.kill()
        for fd in (bot.stdin, bot.stdout, bot.stderr):
            os.close(fd)


def _read(bot: Running, until: bytes | None = None) -> bytes:
    """Return what it writes until it ends, or a piece that ends with ``until``."""
    said = b""
    deadline = time.monotonic() + _PATIENCE_S
    poll = select.poll()
    poll.register(bot.stdout, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        if not poll.poll(left * 1000):
            break
        chunk = os.read(bot.stdout, 65_536)
        said += chunk
        if not chunk or (until is not None and said.endswith(until)):
            break
    return said
