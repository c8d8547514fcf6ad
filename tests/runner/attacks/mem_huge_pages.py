"""Take huge pages that the host reserved, which no control group counts."""

import errno
import mmap

import kit

MAP_HUGETLB = 0x40000


def attack():
    try:
        mmap.mmap(-1, 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
    except OSError as refusal:
        # ENOMEM: the kernel looked for a page and had none. That is no refusal.
        return "asked the kernel" if refusal.errno == errno.ENOMEM else None
    return "a huge page"


kit.play(attack)
