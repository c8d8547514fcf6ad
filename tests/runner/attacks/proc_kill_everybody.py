"""Signal every process that it may signal."""

import os
import signal

import kit


def attack():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.kill(-1, signal.SIGUSR1)
    return False  # The test notices a dead process outside.


kit.play(attack)
