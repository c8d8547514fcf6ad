"""Change the root folder, to leave it afterwards."""

import os

import kit


def attack():
    return kit.any_of(
        lambda: os.chroot("/tmp") or "chrooted",
        lambda: kit.syscall("pivot_root", b"/tmp", b"/tmp"),
    )


kit.play(attack)
