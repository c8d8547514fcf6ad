"""Count the processors that this process may use."""

import os


def processors() -> int:
    """Return the number of processors of this process, which may be a part of all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
