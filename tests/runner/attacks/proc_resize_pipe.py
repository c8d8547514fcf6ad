"""Shrink the pipe of the referee, so that its lines no longer fit."""

import fcntl
import sys

import kit


def attack():
    return fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETPIPE_SZ, 4096)


kit.play(attack)
