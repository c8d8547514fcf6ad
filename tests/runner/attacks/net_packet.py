"""Read raw frames."""

import socket

import kit


def attack():
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)


kit.play(attack)
