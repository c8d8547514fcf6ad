"""Leave a file for its next game."""

import os

import kit

PLACES = [
    "/tmp/note",
    "/dev/shm/note",
    "/box/note",
    "/opt/torres/note",
    "/var/tmp/note",
]


def attack():
    found = [place for place in PLACES if os.path.exists(place)]
    for place in PLACES:
        try:
            open(place, "w").close()
        except OSError:
            pass
    return found


kit.play(attack)
