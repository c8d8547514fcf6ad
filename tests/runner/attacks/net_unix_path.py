"""Talk to a socket file of the host."""

import os
import socket

import kit


def attack():
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(os.environ["HOST_SOCKET"])
        return "connected"


kit.play(attack)
