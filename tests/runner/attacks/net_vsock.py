"""Reach the hypervisor: a network namespace does not isolate AF_VSOCK."""

import socket

import kit


def attack():
    return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)


kit.play(attack)
