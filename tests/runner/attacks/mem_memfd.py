"""Fill files that have no name."""

import os

import kit


def attack():
    files = [os.memfd_create(str(n)) for n in range(20)]
    while True:
        for fd in files:
            os.write(fd, b"x" * (1 << 20))


kit.play(attack)
