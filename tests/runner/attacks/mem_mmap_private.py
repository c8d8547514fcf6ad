"""Map memory without end."""

import mmap

import kit


def attack():
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        kept[-1].write(b"x" * (8 << 20))


kit.play(attack)
