"""Move pages into pipes, past the accounts of memory."""

import os

import kit


def attack():
    _reader, writer = os.pipe()
    with open("/usr/bin/python3", "rb") as file:
        return os.splice(file.fileno(), writer, 4096)


kit.play(attack)
