"""Inspect the supervisor, which is the parent, to learn its paths; kill it."""

import os
import signal
import time

import kit


def attack():
    keeper = os.getppid()
    if keeper == 0:
        return False  # No supervisor in its PID namespace.
    return kit.any_of(
        lambda: end(keeper),
        lambda: os.listdir(f"/proc/{keeper}/fd"),
        lambda: os.readlink(f"/proc/{keeper}/exe"),
        lambda: os.open(f"/proc/{keeper}/mem", os.O_RDWR),
        lambda: read(keeper, "environ"),
        lambda: read(keeper, "maps"),
        lambda: b"/" in read(keeper, "cmdline"),
    )


def end(keeper):
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        os.kill(keeper, number)
    time.sleep(0.05)  # The bot would die with its supervisor.


def read(keeper, name):
    with open(f"/proc/{keeper}/{name}", "rb") as file:
        return file.read()


kit.play(attack)
