"""Open a handle to a foreign process, or get a descriptor of it."""

import os

import kit


def attack():
    pid = int(os.environ["HOST_PID"])
    return kit.any_of(
        lambda: os.pidfd_open(pid),
        lambda: kit.syscall("pidfd_getfd", os.pidfd_open(1), 0, 0),
    )


kit.play(attack)
