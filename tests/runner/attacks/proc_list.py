"""List processes of the host."""

import os

import kit


def attack():
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [pid for pid in pids if pid not in {1, os.getpid()}]


kit.play(attack)
