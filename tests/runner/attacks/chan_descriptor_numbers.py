"""Read numbers of the whole kernel, with which a frozen opponent can send a message."""

import os

import kit


def about(fd):
    with open(f"/proc/self/fdinfo/{fd}") as file:
        return [line for line in file if line.startswith(("eventfd-id", "ino"))]


def attack():
    return kit.any_of(
        lambda: about(os.eventfd(0)),
        lambda: about(0),
        lambda: os.listdir("/proc/self/task"),
    )


kit.play(attack)
