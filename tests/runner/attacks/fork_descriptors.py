"""Open descriptors without end."""

import os

import kit


def attack():
    opened = 0
    try:
        while True:
            os.dup(0)
            opened += 1
    except OSError:
        return opened > 1000 and f"{opened} descriptors"


kit.play(attack)
