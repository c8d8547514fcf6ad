"""Leave its control group, or raise its limits."""

import kit

PLACES = [
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/unified/cgroup.freeze",
]


def attack():
    return kit.any_of(
        *(lambda p=p: open(p, "w") for p in PLACES),
        lambda: kit.syscall("mount", b"c", b"/tmp", b"cgroup2", 0, None),
    )


kit.play(attack)
