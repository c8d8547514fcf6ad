"""Runs a function of ours in a short-lived process with limits.

Files of strangers are parsed there and not in the web server or a worker: a parser that
hangs, needs all memory or crashes harms no other process. The process is a new
interpreter, not a fork, because the callers have threads. It inherits no environment.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from torres.common.json_object import JsonObject

_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from torres.common.limited_main import main
main()
"""
_MAX_RESULT_BYTES = 16 << 20
_MAX_ERROR_CHARS = 2_000


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
    function: Callable[[JsonObject], JsonObject],
    arguments: JsonObject,
    stdin: IO[bytes],
    limits: ProcessLimits,
) -> JsonObject:
    """Call a module's function in a process of its own and return its result.

    Arguments and result are small JSON. The function finds the open file ``stdin``,
    which needs a descriptor, at its standard input. Raises LimitExceeded,
    ProcessFailed, and the OSError that the function raised.
    """
    if sys.platform == "win32":
        raise ProcessFailed(
            "archives are opened under limits that Windows does not have; unpack the"
            " archive yourself, and name the folder"
        )
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


def _result(stdout: bytes) -> JsonObject:
    answer = json.loads(stdout)
    if "exhausted" in answer:
        raise LimitExceeded("it needed too much memory")
    if "errno" in answer:
        raise OSError(answer["errno"], os.strerror(answer["errno"]))
    result: JsonObject = answer["result"]
    return result
