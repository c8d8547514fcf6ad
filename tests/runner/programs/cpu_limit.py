"""Sets a limit of its own CPU time: the kernel kills it, with SIGKILL, at the limit."""

import resource
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            pass
