"""Talk to an opponent by locks on a file that every sandbox shares."""

import fcntl

import kit


def attack():
    with open("/usr/bin/python3", "rb") as one, open("/usr/bin/python3", "rb") as two:
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "another opener of the file sees the lock"
    return None


kit.play(attack)
