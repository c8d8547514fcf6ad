"""Send the memory killer to somebody else."""

import kit


def attack():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "lowered"


kit.play(attack)
