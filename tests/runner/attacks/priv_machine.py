"""Stop or rename the machine, or set its clock."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("reboot", 0xFEE1DEAD, 672274793, 0, None),
        lambda: kit.syscall("sethostname", b"mine", 4),
        lambda: kit.syscall("settimeofday", bytes(16), None),
        lambda: kit.syscall("swapon", b"/tmp/x", 0),
        lambda: kit.syscall("acct", b"/tmp/x"),
        lambda: kit.syscall("syslog", 3, b" " * 100, 100),
    )


kit.play(attack)
