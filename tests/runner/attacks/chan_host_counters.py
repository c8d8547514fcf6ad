"""Read counters of the host, which a frozen opponent can raise."""

import ctypes

import kit

PATHS = """meminfo loadavg stat uptime locks slabinfo sys/fs/dentry-state sys/fs/file-nr
sys/fs/inode-nr sys/kernel/random/entropy_avail pressure/cpu sched_debug key-users"""


def read(path):
    with open(f"/proc/{path}") as file:
        return file.read().strip()


def sysinfo():
    facts = ctypes.create_string_buffer(256)
    return kit.libc.sysinfo(facts) == 0 and bytes(facts).hex()


def attack():
    return kit.any_of(sysinfo, *(lambda p=p: read(p) for p in PATHS.split()))


kit.play(attack)
