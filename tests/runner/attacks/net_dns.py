"""Look up a name."""

import socket

import kit


def attack():
    return socket.getaddrinfo("localhost.localdomain", 80, socket.AF_INET)


kit.play(attack)
