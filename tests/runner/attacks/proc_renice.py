"""Take CPU time from other processes by a higher priority."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("setpriority", 0, 0, -5),
        lambda: kit.syscall("sched_setscheduler", 0, 1, bytes([1, 0, 0, 0])),
        lambda: kit.syscall("ioprio_set", 1, 0, 1 << 13),
    )


kit.play(attack)
