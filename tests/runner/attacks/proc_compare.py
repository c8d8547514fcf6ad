"""Compare the kernel objects of two processes."""

import os

import kit


def attack():
    return kit.syscall("kcmp", 1, int(os.environ["HOST_PID"]), 0, 0, 0)


kit.play(attack)
