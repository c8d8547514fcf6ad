"""Listen on IPv6."""

import socket

import kit


def attack():
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as door:
        door.bind(("::1", 0))
        return door.getsockname()


kit.play(attack)
