"""Write to the kernel's settings in /proc and /sys."""

import kit

SWITCHES = """/proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches
/proc/sys/kernel/modprobe /proc/self/setgroups /sys/power/state
/proc/sys/user/max_user_namespaces /proc/sys/kernel/ns_last_pid"""


def attack():
    return kit.any_of(*(lambda s=s: turn(s) for s in SWITCHES.split()))


def turn(switch):
    with open(switch, "w") as file:
        file.write("0")
    return switch


kit.play(attack)
