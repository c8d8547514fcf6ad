"""Use too much memory in many children, none of which uses much."""

import os
import signal

import kit


def attack():
    for _ in range(20):
        if not os.fork():
            kept = bytearray(b"x" * (30 << 20))
            signal.pause()
            del kept
    signal.pause()


kit.play(attack)
