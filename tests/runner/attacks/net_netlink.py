"""Ask the kernel about its network interfaces."""

import socket

import kit


def attack():
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)


kit.play(attack)
