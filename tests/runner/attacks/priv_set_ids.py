"""Change its user or its groups."""

import os

import kit


def attack():
    return kit.any_of(
        lambda: os.setuid(0) or "root",
        lambda: os.setgid(0) or "root's group",
        lambda: os.setgroups([0]) or "groups",
    )


kit.play(attack)
