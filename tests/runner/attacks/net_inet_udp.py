"""Send a UDP datagram."""

import socket

import kit


def attack():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        return door.sendto(b"hello", ("127.0.0.1", 53))


kit.play(attack)
