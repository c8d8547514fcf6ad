"""Request AF_INET with a bit set in the upper half, which the kernel ignores."""

import kit

AF_INET, STREAM = 2, 1


def attack():
    return kit.syscall("socket", (1 << 32) | AF_INET, STREAM, 0)


kit.play(attack)
