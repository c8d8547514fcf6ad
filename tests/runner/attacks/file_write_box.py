"""Change its own files, to keep something for the next game."""

import os

import kit


def attack():
    return kit.any_of(
        lambda: open("/box/state", "w"),
        lambda: open(__file__, "a"),
        lambda: os.unlink(__file__) or "removed",
        lambda: os.mkdir("/box/folder") or "made",
        lambda: os.chmod(__file__, 0o777) or "opened",
    )


kit.play(attack)
