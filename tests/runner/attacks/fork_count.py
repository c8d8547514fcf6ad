"""Start more processes than its limit."""

import os
import signal

import kit


def attack():
    started = 0
    try:
        while started < 1000:
            if not os.fork():
                signal.pause()
            started += 1
    except OSError:
        pass
    return started > 64 and f"{started} children"


kit.play(attack)
