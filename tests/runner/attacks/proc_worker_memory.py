"""Open the memory of processes that are not its own."""

import os

import kit


def attack():
    pids = [os.environ["HOST_PID"], str(os.getppid())]
    return kit.any_of(*(lambda p=p: open(f"/proc/{p}/mem", "r+b") for p in pids))


kit.play(attack)
