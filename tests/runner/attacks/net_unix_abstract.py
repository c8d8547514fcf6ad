"""Talk to an abstract socket of the host."""

import os
import socket

import kit


def attack():
    with socket.socket(socket.AF_UNIX) as door:
        door.connect("\0" + os.environ["HOST_ABSTRACT"])
        return "connected"


kit.play(attack)
