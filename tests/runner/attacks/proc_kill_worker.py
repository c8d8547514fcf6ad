"""Kill the worker by its process id."""

import os
import signal

import kit


def attack():
    os.kill(int(os.environ["HOST_PID"]), signal.SIGKILL)
    return "sent"


kit.play(attack)
