"""Runs a function of ours in a short-lived process with limits.

Files of strangers are parsed there and not in the web server or a worker: a parser that
hangs, needs all memory or crashes takes nobody else with it. The process is a new
interpreter, not a fork, because the callers have threads. It inherits no environment.
"""

import contextlib
import errno
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from ladder.common.limited_process import _main
_main()
"""
_MAX_RESULT_BYTES = 16 << 20
_MAX_ERROR_CHARS = 2_000
_OUT_OF_MEMORY = b'{"exhausted": true}'


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """The limits of one process. ``file_bytes`` is the size of each file it writes."""

    cpu_s: int
    wall_s: int
    memory_mb: int
    file_bytes: int


class LimitExceeded(Exception):
    """The process needed too much time or memory, or a signal ended it."""


class ProcessFailed(Exception):
    """The process ended without a result. The message is for operators."""


def run_limited(
    function: Callable[[dict[str, Any]], dict[str, Any]],
    arguments: dict[str, Any],
    stdin: IO[bytes],
    limits: ProcessLimits,
) -> dict[str, Any]:
    """Call a module's function in a process of its own and return its result.

    Arguments and result are small JSON. The function finds the open file ``stdin``,
    which needs a descriptor, at its standard input. Raises LimitExceeded,
    ProcessFailed, and the OSError that the function raised.
    """
    order = {
        "module": function.__module__,
        "function": function.__qualname__,
        "arguments": arguments,
        "limits": asdict(limits),
    }
    argv = [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, _ROOT, json.dumps(order)]
    try:
        process = subprocess.run(
            argv,
            stdin=stdin,
            capture_output=True,
            env={},
            timeout=limits.wall_s,
            check=False,
        )
    except subprocess.TimeoutExpired as timeout:
        raise LimitExceeded(f"it took more than {limits.wall_s} s") from timeout
    if process.returncode < 0:
        raise LimitExceeded(f"signal {-process.returncode} ended it")
    if process.returncode or len(process.stdout) > _MAX_RESULT_BYTES:
        error = process.stderr[-_MAX_ERROR_CHARS:].decode(errors="replace")
        raise ProcessFailed(f"exit code {process.returncode}: {error!a}")
    return _result(process.stdout)


def _result(stdout: bytes) -> dict[str, Any]:
    answer = json.loads(stdout)
    if "exhausted" in answer:
        raise LimitExceeded("it needed too much memory")
    if "errno" in answer:
        raise OSError(answer["errno"], os.strerror(answer["errno"]))
    result: dict[str, Any] = answer["result"]
    return result


def _main() -> None:
    """Set the limits, then call the function that the caller named."""
    order = json.loads(sys.argv[2])
    function = getattr(importlib.import_module(order["module"]), order["function"])
    _set_limits(ProcessLimits(**order["limits"]))
    stdout = os.dup(1)
    os.dup2(2, 1)  # what a library prints is not our result
    try:
        answer = {"result": function(order["arguments"])}
    except OSError as error:
        answer = {"errno": error.errno or errno.EIO}
    except (MemoryError, RecursionError):
        os.write(stdout, _OUT_OF_MEMORY)
        return
    with open(stdout, "w", encoding="ascii") as out:  # noqa: PTH123 - a descriptor
        json.dump(answer, out)


def _set_limits(limits: ProcessLimits) -> None:
    signal.alarm(limits.wall_s)  # also if the parent is gone by then
    # A limit of 0 would not keep the host's crash handler away; 1 does.
    _lower(resource.RLIMIT_CORE, 1)
    _lower(resource.RLIMIT_CPU, limits.cpu_s)
    _lower(resource.RLIMIT_AS, limits.memory_mb << 20)
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_NOFILE, 64)
    with contextlib.suppress(OSError):
        os.nice(5)


def _lower(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, limit))
