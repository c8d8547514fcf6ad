"""Choose its own CPUs."""

import os

import kit


def attack():
    os.sched_setaffinity(0, {0})
    return "chosen"


kit.play(attack)
