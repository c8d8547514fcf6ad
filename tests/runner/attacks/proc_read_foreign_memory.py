"""Read another process by process_vm_readv."""

import os

import kit


def attack():
    pid = int(os.environ["HOST_PID"])
    return kit.syscall("process_vm_readv", pid, None, 0, None, 0, 0)


kit.play(attack)
