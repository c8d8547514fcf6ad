"""Mount something."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("mount", b"t", b"/tmp", b"tmpfs", 0, None),
        lambda: kit.syscall("mount", None, b"/", None, 32 | 4096, None),  # remount rw
        lambda: kit.syscall("umount2", b"/proc", 2),
        lambda: kit.syscall("fsopen", b"tmpfs", 0),
        lambda: kit.syscall("open_tree", -100, b"/usr", 1),
        lambda: kit.syscall("mount_setattr", -100, b"/", 0, None, 0),
    )


kit.play(attack)
