"""Make the kernel's OOM killer prefer other processes."""

import kit


def attack():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "lowered"


kit.play(attack)
