"""Uses 50 ms of CPU time in each of four children for each answer."""

import os
import sys
import time


def work():
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        children = []
        for _ in range(4):
            pid = os.fork()
            if not pid:
                work()
                os._exit(0)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        print('{"index":0}')
