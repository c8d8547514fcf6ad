"""Leave a daemon behind."""

import os
import signal

import kit


def attack():
    if not os.fork():
        os.setsid()
        if not os.fork():
            for fd in (0, 1, 2):
                os.close(fd)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            while True:
                signal.pause()
        os._exit(0)


kit.play(attack)
