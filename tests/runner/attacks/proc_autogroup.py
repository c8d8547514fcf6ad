"""Stretch wall time by giving one's own session the lowest priority."""

import kit


def write(name, text):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
    return name


def attack():
    return kit.any_of(
        lambda: write("autogroup", "19"),
        lambda: write("coredump_filter", "0x7f"),
        lambda: write("clear_refs", "1"),
        lambda: write("timerslack_ns", "1"),
    )


kit.play(attack)
