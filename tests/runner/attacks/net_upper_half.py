"""Hide AF_INET below bits that the kernel does not read."""

import kit

AF_INET, STREAM = 2, 1


def attack():
    return kit.syscall("socket", (1 << 32) | AF_INET, STREAM, 0)


kit.play(attack)
