"""Load a program for packets into the kernel; read a number that the kernel counts."""

import ctypes
import socket
import struct

import kit

SO_ATTACH_FILTER = 26
SO_COOKIE = 57


def attack():
    one, two = socket.socketpair()
    accept_all = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
    program = struct.pack("HL", 1, ctypes.addressof(accept_all))
    return kit.any_of(
        lambda: [one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)],
        lambda: one.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8),
        lambda: two.send(b"x", socket.MSG_OOB),
    )


kit.play(attack)
