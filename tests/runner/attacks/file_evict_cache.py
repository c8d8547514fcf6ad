"""Evict pages that all programs of the host share from the page cache."""

import os

import kit

NO_SUCH_ADVICE = 99


def attack():
    with open("/usr/bin/python3", "rb") as file:
        try:
            os.posix_fadvise(file.fileno(), 0, 0, NO_SUCH_ADVICE)
        except OSError:
            return "the kernel reads the advice"
    return None


kit.play(attack)
