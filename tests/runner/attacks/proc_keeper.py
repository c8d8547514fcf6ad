"""Look into who stands between the bot and its worker, learn its paths, and end it."""

import os
import signal
import time

import kit


def attack():
    keeper = os.getppid()
    if keeper == 0:
        return False  # nobody does
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
    time.sleep(0.05)  # with it the bot would end


def read(keeper, name):
    with open(f"/proc/{keeper}/{name}", "rb") as file:
        return file.read()


kit.play(attack)
