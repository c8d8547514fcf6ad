"""A process whose loop stands still ends, so that its supervisor starts another one."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from ladder.common.watchdog import EXIT_CODE, LOOKS
from tests.ops.running import environment
from tests.servers import free_port

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
# Runs a program with watchdogs that wait for 15 s instead of two minutes.
IMPATIENT = """
import runpy, sys
from ladder.common import watchdog
watchdog.LIMIT_S = 15.0
watchdog.Watchdog.__init__.__defaults__ = (watchdog.LIMIT_S,)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
CELERY = str(Path(sys.executable).with_name("celery"))
PARTS = {
    "serve": ["manage.py", "serve", "--listen", "127.0.0.1:PORT"],
    "schedule": ["manage.py", "schedule"],
    "monitor": ["manage.py", "monitor"],
    "practice": ["manage.py", "practice"],
    "worker": [CELERY, "-A", "ladder.celery", "worker", "--pool", "threads"],
}
MESSAGE_TIMEOUT_S = 300.0


def run(hang: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LOOP.format(hang=hang)],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "ladder.settings"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_loop_that_hangs_ends_its_process() -> None:
    hung = run("pause.wait()")

    assert hung.returncode == EXIT_CODE
    assert hung.stdout.startswith("went on\n")
    assert "stands still" in hung.stderr


def test_a_loop_that_ends_is_not_hurt() -> None:
    assert run("pass").returncode == 0


class Supervisor:
    """Starts the parts of a service as systemd does, and receives their messages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sockets: dict[str, socket.socket] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, words: list[str]) -> None:
        address = str(self._folder / f"{name}.socket")
        self._sockets[name] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sockets[name].settimeout(MESSAGE_TIMEOUT_S)
        self._sockets[name].bind(address)
        env = environment(
            self._folder,
            NOTIFY_SOCKET=address,
            TORRES_ALIVE_FILE=str(self.alive_file(name)),
            DJANGO_SETTINGS_MODULE="ladder.settings",
        )
        words = [word.replace("PORT", str(free_port())) for word in words]
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-c", IMPATIENT, *words], cwd=settings.BASE_DIR, env=env
        )

    def alive_file(self, name: str) -> Path:
        return self._folder / f"{name}.alive"

    def receive(self, name: str) -> bytes:
        return self._sockets[name].recv(100)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        for each in self._sockets.values():
            each.close()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    migrate = [sys.executable, "manage.py", "prepare"]
    subprocess.run(
        migrate, cwd=settings.BASE_DIR, env=environment(tmp_path), check=True
    )
    supervisor = Supervisor(tmp_path)
    yield supervisor
    supervisor.close()


@pytest.mark.deep
@pytest.mark.slow
def test_every_part_says_again_and_again_that_its_loop_goes_on(
    supervisor: Supervisor,
) -> None:
    """A watchdog that nobody pets ends its process after LOOKS messages."""
    for name, words in PARTS.items():
        supervisor.start(name, words)
    for _ in range(2 * LOOKS):
        assert {supervisor.receive(name) for name in PARTS} == {b"WATCHDOG=1"}
    assert all(supervisor.alive_file(name).exists() for name in PARTS)
    assert {process.poll() for process in supervisor.processes.values()} == {None}
