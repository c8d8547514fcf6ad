"""Uses up what its sandbox shares with it, kills all that it can reach, and itself.

It fills /tmp and its number of processes, so that a helper of the runner that needs
either of them would fail.
"""

import contextlib
import os
import signal
import sys
import time


def fill_tmp() -> None:
    with contextlib.suppress(OSError), open("/tmp/full", "wb") as file:
        while True:
            file.write(bytes(1 << 16))


def use_up_processes() -> None:
    with contextlib.suppress(OSError):
        while os.fork():
            pass
        time.sleep(60)


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        fill_tmp()
        use_up_processes()
        for pid in (os.getppid(), 1, -1, os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        sys.exit(137)
