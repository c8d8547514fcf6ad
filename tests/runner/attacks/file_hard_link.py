"""Make a hard link in /tmp to a file of the host."""

import os

import kit


def attack():
    os.link("/usr/bin/env", "/tmp/env")
    return "linked"


kit.play(attack)
