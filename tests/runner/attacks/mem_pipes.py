"""Make the kernel use memory, by full pipes."""

import fcntl
import os

import kit


def attack():
    held = 0
    for _ in range(120):
        _, end = os.pipe()
        os.set_blocking(end, False)
        try:
            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20)
            while True:
                held += os.write(end, b"x" * (1 << 20))
        except OSError:
            pass
    return held > 120 << 20 and f"{held} bytes in pipes"


kit.play(attack)
