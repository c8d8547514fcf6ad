"""Read the worker's environment, with its keys."""

import os

import kit


def attack():
    secret = os.environ["HOST_SECRET_PART"].encode()
    pids = ["1", "self", os.environ["HOST_PID"], str(os.getppid())]
    return kit.any_of(*(lambda p=p: look(p, secret) for p in pids))


def look(pid, secret):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return secret + b"-whole" in file.read()


kit.play(attack)
