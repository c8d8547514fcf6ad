"""Make or open devices."""

import os
import stat

import kit


def attack():
    mode = 0o600 | stat.S_IFBLK
    return kit.any_of(
        lambda: os.mknod("/tmp/disk", mode, os.makedev(254, 0)) or "made",
        lambda: os.mknod("/tmp/pipe", 0o600 | stat.S_IFIFO) or "made",
        lambda: open("/dev/mem", "rb"),
        lambda: open("/dev/kmsg", "rb"),
        lambda: open("/dev/vda", "rb"),
        lambda: open("/dev/sda", "rb"),
        lambda: open("/dev/kvm", "rb"),
    )


kit.play(attack)
