"""Jobs end with the dispatcher that started them."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings

from torres.common.parents import end_with_parent

DISPATCHER = """
import sys, time
from pathlib import Path
from django.conf import settings
settings.configure(BASE_DIR=Path(sys.argv[1]))
from ladder.common.jobs import Job, JobProcess

JobProcess(Job("long", is_due=lambda: True, run=print)).ensure()
time.sleep(600)
"""
COMMAND = """
import os, sys, time
from pathlib import Path
note = Path(sys.argv[0]).with_name("pid.new")
note.write_text(str(os.getpid()))
note.rename(note.with_name("pid"))
time.sleep(600)
"""
TIMEOUT_S = 30.0
HANGS = """
import sys
from pathlib import Path
from django.conf import settings
settings.configure(BASE_DIR=Path(sys.argv[1]))
from ladder.common import jobs
from torres.common.pause import pause

jobs.PAUSE_AFTER_FAILURE_S = 0.0
process = jobs.JobProcess(
    jobs.Job("hangs", is_due=lambda: True, run=print, longest_s=0.5)
)
seen = set()
while len(seen) < 2:
    process.ensure()
    if process.child:
        seen.add(process.child.pid)
    pause(0.05)
process.close()
"""


def runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not end_with_parent(), reason="needs setpriv: util-linux")
def test_a_killed_dispatcher_leaves_no_command_behind(tmp_path: Path) -> None:
    (tmp_path / "manage.py").write_text(COMMAND)
    dispatcher = subprocess.Popen(
        [sys.executable, "-c", DISPATCHER, str(tmp_path)], cwd=settings.BASE_DIR
    )
    pause = threading.Event()
    deadline = time.monotonic() + TIMEOUT_S
    try:
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < deadline, "the command did not start"
            pause.wait(0.05)
        command = int((tmp_path / "pid").read_text())
        assert runs(command)
    finally:
        dispatcher.send_signal(signal.SIGKILL)
        dispatcher.wait()
    while runs(command):
        assert time.monotonic() < deadline, "the command outlived its dispatcher"
        pause.wait(0.05)


def test_a_job_that_hangs_is_killed_and_started_again(tmp_path: Path) -> None:
    (tmp_path / "manage.py").write_text(COMMAND)

    subprocess.run(
        [sys.executable, "-c", HANGS, str(tmp_path)],
        cwd=settings.BASE_DIR,
        timeout=10 * TIMEOUT_S,
        check=True,
    )
