"""Switch off address randomisation."""

import kit


def attack():
    return kit.syscall("personality", 0x0040000)


kit.play(attack)
