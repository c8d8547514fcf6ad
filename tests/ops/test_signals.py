"""A signal stops a service at whatever place it interrupts the main thread."""

import subprocess
import sys

from django.conf import settings

SIGNALS = 100
# With a wait of 0 s the main thread holds the lock of the event much of the time.
SCRIPT = f"""
import os, signal, threading, time
from ladder.common.commands import stop_on_signals

stop = stop_on_signals()
seen = threading.Event()

def send():
    for _ in range({SIGNALS}):
        os.kill(os.getpid(), signal.SIGTERM)
        seen.wait()
        seen.clear()
    os._exit(0)

threading.Thread(target=send).start()
while True:
    if stop.wait(0):
        stop.clear()
        seen.set()
"""


def test_a_signal_never_waits_for_the_thread_that_it_interrupts() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr[-500:]) == (0, "")
