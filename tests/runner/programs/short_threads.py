"""Uses 50 ms for each answer, in fifty threads one after the other."""

import sys
import threading
import time


def work():
    until = time.thread_time() + 0.001
    while time.thread_time() < until:
        pass


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        for _ in range(50):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        print('{"index":0}')
