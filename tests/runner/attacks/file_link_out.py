"""Read a file outside of its folder through a link in the folder."""

import kit


def attack():
    with open("/box/link-to-the-secret", "rb") as file:
        return file.read(10)


kit.play(attack)
