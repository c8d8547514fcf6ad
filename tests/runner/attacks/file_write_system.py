"""Change the programs of the host."""

import kit

PLACES = "/usr/bin/x /usr/x /etc/x /x /lib/x /opt/torres/engine/x.py /dev/x /bin/x"


def attack():
    return kit.any_of(*(lambda p=p: open(p, "w") for p in PLACES.split()))


kit.play(attack)
