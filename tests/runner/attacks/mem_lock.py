"""Lock memory, so that the kernel cannot swap it out."""

import ctypes

import kit


def attack():
    page = ctypes.create_string_buffer(4 << 20)
    if kit.libc.mlock(page, len(page)):
        raise OSError(ctypes.get_errno(), "mlock")
    return "locked"


kit.play(attack)
