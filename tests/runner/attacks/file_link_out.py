"""Follow a link in its own folder out of it."""

import kit


def attack():
    with open("/box/link-to-the-secret", "rb") as file:
        return file.read(10)


kit.play(attack)
