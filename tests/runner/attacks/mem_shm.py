"""Fill /dev/shm."""

import kit


def attack():
    with open("/dev/shm/big", "wb") as file:
        file.writelines(b"x" * (1 << 20) for _ in range(64))
    return "64 MiB written"


kit.play(attack)
