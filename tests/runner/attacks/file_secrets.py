"""Read private files of the host."""

import os

import kit

PATHS = [
    "/etc/shadow",
    "/etc/passwd",
    "/etc/hostname",
    "/root",
    "/home",
    "/var/log",
    "/run",
    "/sys/kernel",
    "/proc/kcore",
    "/proc/1/root/etc/shadow",
    "/boot",
    "/srv",
    "/work",
    "/mnt",
    "/etc/ssh",
]


def attack():
    paths = [*PATHS, os.environ["HOST_SECRET_FILE"]]
    return kit.any_of(*(lambda p=p: read(p) for p in paths))


def read(path):
    if os.path.isdir(path):
        return os.listdir(path)
    with open(path, "rb") as file:
        return file.read(100)


kit.play(attack)
