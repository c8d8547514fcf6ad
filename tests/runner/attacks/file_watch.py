"""Watch which files the opponents and the host open."""

import ctypes
import os

import kit


def attack():
    descriptor = kit.libc.inotify_init1(0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    os.close(descriptor)
    return "inotify works"


kit.play(attack)
