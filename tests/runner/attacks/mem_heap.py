"""Allocate memory without end."""

import kit


def attack():
    kept = []
    while True:
        kept.append(bytearray(b"x" * (4 << 20)))


kit.play(attack)
