"""A process whose loop stands still ends, so that its supervisor starts another one."""

import subprocess
import sys

from django.conf import settings

from ladder.common.watchdog import EXIT_CODE

LOOP = """
import threading
from ladder.common.watchdog import Watchdog
pause = threading.Event()
with Watchdog(0.6) as watchdog:
    for _ in range(20):
        watchdog.pet()
        pause.wait(0.1)
    print("went on", flush=True)
    {hang}
"""


def run(hang: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LOOP.format(hang=hang)],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_loop_that_hangs_ends_its_process() -> None:
    hung = run("pause.wait()")

    assert hung.returncode == EXIT_CODE
    assert hung.stdout.startswith("went on\n")
    assert "stands still" in hung.stdout


def test_a_loop_that_ends_is_not_hurt() -> None:
    assert run("pass").returncode == 0
