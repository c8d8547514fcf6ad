"""Try every address family but AF_UNIX."""

import socket
from functools import partial

import kit


def attack():
    families = [f for f in range(46) if f != socket.AF_UNIX]
    return kit.any_of(*(partial(kit.syscall, "socket", f, 3, 0) for f in families))


kit.play(attack)
