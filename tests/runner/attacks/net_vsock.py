"""Reach the hypervisor: no network namespace holds AF_VSOCK (trap T2)."""

import socket

import kit


def attack():
    return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)


kit.play(attack)
