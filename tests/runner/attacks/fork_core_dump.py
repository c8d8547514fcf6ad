"""Crash into the host's core handler, which runs as root.

A handler behind a pipe ignores a limit of 0 and obeys a limit of 1.
"""

import resource

import kit


def attack():
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    return None if limits == (1, 1) else limits


kit.play(attack)
