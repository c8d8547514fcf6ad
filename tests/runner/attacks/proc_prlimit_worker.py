"""Change the limits of others, or raise its own."""

import os
import resource

import kit


def attack():
    worker = int(os.environ["HOST_PID"])
    high = (1 << 20, 1 << 20)
    return kit.any_of(
        lambda: resource.prlimit(worker, resource.RLIMIT_NOFILE, (1, 1)) or "lowered",
        lambda: resource.setrlimit(resource.RLIMIT_NOFILE, high) or "raised",
        lambda: resource.setrlimit(resource.RLIMIT_CORE, high) or "cores",
    )


kit.play(attack)
