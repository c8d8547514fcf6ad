"""Load a program into the kernel."""

import kit


def attack():
    return kit.any_of(
        lambda: kit.syscall("bpf", 0, bytes(72), 72),
        lambda: kit.syscall("perf_event_open", bytes(112), 0, -1, -1, 0),
        lambda: kit.syscall("init_module", b"x", 1, b""),
        lambda: kit.syscall("finit_module", 0, b"", 0),
        lambda: kit.syscall("kexec_load", 0, 0, None, 0),
    )


kit.play(attack)
