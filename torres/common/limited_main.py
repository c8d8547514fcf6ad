"""The program of a process with limits (see `limited_process`); it needs POSIX."""

import contextlib
import errno
import importlib
import json
import os
import resource
import signal
import sys

from torres.common.limited_process import ProcessLimits

_OUT_OF_MEMORY = b'{"exhausted": true}'


def main() -> None:
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
    try:
        resource.setrlimit(kind, (limit, limit))
    except (OSError, ValueError):
        # macOS does not enforce every limit, and may refuse to set it.
        if sys.platform == "linux":
            raise
