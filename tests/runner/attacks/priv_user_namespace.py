"""Become root of a namespace of its own."""

import kit

NEWUSER, NEWNS, NEWNET, NEWPID = 0x10000000, 0x20000, 0x40000000, 0x20000000
SIGCHLD = 17


def attack():
    kinds = (NEWUSER, NEWNS, NEWNET, NEWPID, NEWUSER | NEWNS)
    return kit.any_of(
        *(lambda k=k: kit.syscall("unshare", k) for k in kinds),
        lambda: kit.syscall("clone", NEWUSER | SIGCHLD, 0, 0, 0, 0),
        lambda: kit.syscall("setns", 0, 0),
    )


kit.play(attack)
