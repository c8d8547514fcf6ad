"""Let the kernel send signals to a process of one's choice."""

import fcntl
import os
import sys

import kit


def attack():
    fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETOWN, os.getpid())
    return "F_SETOWN works"


kit.play(attack)
