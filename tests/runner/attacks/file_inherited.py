"""Find a descriptor that the worker forgot to close."""

import os

import kit


def attack():
    own = os.open("/proc/self/fd", os.O_RDONLY)
    there = {int(name) for name in os.listdir("/proc/self/fd")}
    return {
        fd: os.readlink(f"/proc/self/fd/{fd}")
        for fd in there - {0, 1, 2, own}
        if os.path.lexists(f"/proc/self/fd/{fd}")
    }


kit.play(attack)
