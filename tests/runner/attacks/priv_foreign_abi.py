"""Use the system calls of another architecture."""

import ctypes
import mmap
import os

import kit

# int 0x80 with eax = 20: getpid, as a 32-bit program calls it.
CODE = bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3])
X32_GETPID = 0x40000000 + 39


def attack():
    """Run each in a child, because the filter kills the process that tries."""
    return kit.any_of(lambda: child(old_door), lambda: child(x32))


def old_door():
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()


def x32():
    return kit.libc.syscall(ctypes.c_long(X32_GETPID))


def child(call):
    pid = os.fork()
    if not pid:
        os._exit(call() > 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


kit.play(attack)
