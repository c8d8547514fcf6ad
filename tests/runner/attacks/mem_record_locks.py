"""Fill the kernel's memory with record locks, which no control group counts."""

import fcntl
import os
import tempfile

import kit


def attack():
    with tempfile.TemporaryFile() as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        child = os.fork()
        if child == 0:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
            except OSError:
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
    return "the kernel keeps record locks" if status else None


kit.play(attack)
