"""Uses 48 ms for each answer, in six threads that hand the work on to each other."""

import sys
import threading
import time

THREADS, MS, ROUNDS = 6, 4, 2
batons = [threading.Semaphore(0) for _ in range(THREADS + 1)]


def run(place):
    while True:
        batons[place].acquire()
        until = time.thread_time() + MS / 1000
        while time.thread_time() < until:
            pass
        batons[place + 1].release()


for place in range(THREADS):
    threading.Thread(target=run, args=(place,), daemon=True).start()
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        for _ in range(ROUNDS):
            batons[0].release()
            batons[THREADS].acquire()
        print('{"index":0}', flush=True)
