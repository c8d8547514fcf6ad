"""Eight children touch 60 MiB each: all the same, or, if APART is set, each its own."""

import mmap
import os
import signal
import sys

SIZE = 60 << 20


def touch(memory):
    for offset in range(0, SIZE, 4096):
        memory[offset] = 1


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        common = mmap.mmap(-1, SIZE)
        ready, done = os.pipe()
        for _ in range(8):
            if not os.fork():
                memory = mmap.mmap(-1, SIZE) if os.environ.get("APART") else common
                touch(memory)
                os.write(done, b".")
                signal.pause()
        for _ in range(8):
            os.read(ready, 1)
        print('{"index":0}', flush=True)
        break
sys.stdin.read()
