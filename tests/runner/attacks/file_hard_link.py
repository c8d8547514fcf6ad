"""Link a file of the host into its own tmp."""

import os

import kit


def attack():
    os.link("/usr/bin/env", "/tmp/env")
    return "linked"


kit.play(attack)
