"""Signal everything that it may."""

import os
import signal

import kit


def attack():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.kill(-1, signal.SIGUSR1)
    return False  # the test looks whether anybody outside was hit


kit.play(attack)
