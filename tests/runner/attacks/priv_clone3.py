"""Request namespaces through clone3, whose arguments a filter cannot read."""

import errno

import kit


def attack():
    arguments = (0x10000000).to_bytes(8, "little") + bytes(80)
    try:
        return kit.syscall("clone3", arguments, 88)
    except OSError as why:
        if why.errno != errno.ENOSYS:  # A C library falls back to clone only then.
            return f"refused with {why}"
        raise


kit.play(attack)
