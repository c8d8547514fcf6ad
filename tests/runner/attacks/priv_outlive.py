"""Disable the signal that kills a bot when its worker dies."""

import ctypes

import kit

PR_SET_PDEATHSIG = 1


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    # The kernel ignores the upper half of the number.
    for option in (PR_SET_PDEATHSIG, PR_SET_PDEATHSIG | 1 << 32):
        if libc.prctl(ctypes.c_ulong(option), 0, 0, 0, 0) == 0:
            return f"prctl({option:#x}) came through"
    return None


kit.play(attack)
