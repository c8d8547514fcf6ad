"""Share memory and messages with other processes by System V and POSIX IPC."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("shmget", 77, 4096, 0o1666),
        lambda: kit.syscall("semget", 77, 1, 0o1666),
        lambda: kit.syscall("msgget", 77, 0o1666),
        lambda: kit.syscall("mq_open", b"torres", 0o102, 0o666, None),
    )


kit.play(attack)
