"""Trace another process."""

import os

import kit

PTRACE_SEIZE = 0x4206


def attack():
    return kit.any_of(
        lambda: kit.syscall("ptrace", 0, 0, 0, 0),
        lambda: kit.syscall("ptrace", PTRACE_SEIZE, os.getppid() or 1, 0, 0),
    )


kit.play(attack)
