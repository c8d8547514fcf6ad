"""Open a raw socket, to forge ICMP packets."""

import socket

import kit


def attack():
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


kit.play(attack)
