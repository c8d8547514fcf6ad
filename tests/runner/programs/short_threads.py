"""Uses 50 ms for each answer, in fifty threads one after the other.

Each thread starts the next one and ends at once. So only threads that have ended have
waited for the processor.
"""

import _thread
import sys
import time


def work(left, done):
    until = time.thread_time() + 0.001
    while time.thread_time() < until:
        pass
    if left > 1:
        _thread.start_new_thread(work, (left - 1, done))
    else:
        done.release()


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        done = _thread.allocate_lock()
        done.acquire()
        work(50, done)
        done.acquire()
        print('{"index":0}')
