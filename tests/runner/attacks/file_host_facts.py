"""Recognise the host, to misbehave on one worker only."""

import kit


def read(path):
    with open(path) as file:
        return file.read().strip()


def attack():
    return kit.any_of(
        lambda: read("/proc/sys/kernel/random/boot_id"),
        lambda: read("/proc/cmdline"),
        lambda: read("/proc/diskstats"),
        lambda: read("/proc/interrupts"),
    )


kit.play(attack)
