"""Type into the worker's terminal, also with the upper half of the number set."""

import errno

import kit

TIOCSTI, TIOCLINUX = 0x5412, 0x541C


def attack():
    refused = []
    for request in (TIOCSTI, TIOCLINUX, TIOCSTI | 1 << 32, TIOCLINUX | 1 << 32):
        try:
            return kit.syscall("ioctl", 0, request, b"x")
        except OSError as why:
            refused.append(why.errno)
    return [code for code in refused if code != errno.ENOSYS]


kit.play(attack)
