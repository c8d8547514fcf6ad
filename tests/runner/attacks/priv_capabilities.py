"""Find or gain a capability."""

import kit


def attack():
    with open("/proc/self/status") as file:
        lines = [line.split() for line in file if line.startswith("Cap")]
    had = [line for line in lines if int(line[1], 16)]
    header = (0x20080522).to_bytes(4, "little") + bytes(4)
    return had or kit.syscall("capset", header, b"\xff" * 24)


kit.play(attack)
