"""Learn the host's name, its user's home folder, or the bot's own user id."""

import os

import kit


def attack():
    user = os.environ["HOST_USER_HOME"].encode()
    return kit.any_of(
        lambda: user in open("/proc/1/cmdline", "rb").read(),
        lambda: os.uname().nodename != "box",
        lambda: os.getuid() != 65534,
    )


kit.play(attack)
