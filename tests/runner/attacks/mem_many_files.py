"""Make empty files without end: they have no size, but take memory."""

import kit


def attack():
    for n in range(10_000_000):
        open(f"/tmp/{n}", "w").close()
    return "ten million files"


kit.play(attack)
