"""Leave a message in the kernel's keyrings."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("add_key", b"user", b"torres", b"state", 5, -4),
        lambda: kit.syscall("keyctl", 0, -4, 1),
    )


kit.play(attack)
