"""Connect to a service of the host."""

import os
import socket

import kit


def attack():
    address = ("127.0.0.1", int(os.environ["HOST_PORT"]))
    return socket.create_connection(address, timeout=1)


kit.play(attack)
