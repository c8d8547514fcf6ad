"""Read the folder of the opponent."""

import os

import kit


def attack():
    return kit.any_of(
        lambda: os.listdir(os.environ["HOST_OTHER_BOT"]),
        lambda: [p for p in os.listdir("/box/..") if p not in KNOWN],
    )


KNOWN = {*"box usr bin sbin lib lib64 etc proc dev tmp out opt".split()}


kit.play(attack)
