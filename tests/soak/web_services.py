"""A real web process, alone or with a PostgreSQL and a Redis of its own."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg
import pytest
from django.conf import settings

from ladder.ops.programs import ProgramMissing, find_program
from tests import servers
from tests.conftest import part_missing

MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
SAMPLE_INTERVAL_S = 0.1
# The usual soft limit of a process, whatever this machine has.
OPEN_FILES = 1024


@dataclass
class WebService:
    """One `manage.py serve` with its data."""

    folder: Path
    environment: dict[str, str]
    port: int = field(default_factory=servers.free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "serve.log"

    def manage(self, *words: str) -> str:
        """Run a command of manage.py, and return its output."""
        return self._run(*MANAGE, *words)

    def fill(self, *words: str) -> str:
        """Fill the database with a made-up season, and return the output."""
        return self._run(sys.executable, "-m", "tests.fill", *words)

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            words,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, program: str) -> object:
        """Run a program in Django's shell; return the JSON of its last line."""
        output = self.manage("shell", "--verbosity", "0", "--command", program)
        return json.loads(output.splitlines()[-1])

    def start(self) -> None:
        """Start the web server, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(find_program("prlimit"), f"--nofile={OPEN_FILES}:"),
                    *(*MANAGE, "serve", f"--listen=127.0.0.1:{self.port}"),
                ],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        while not self.accepts_connections():
            with pytest.raises(subprocess.TimeoutExpired):
                self.process.wait(SAMPLE_INTERVAL_S)
        url = f"{self.address}/api/v1/games/?limit=1"
        httpx.get(url, timeout=START_TIMEOUT_S).raise_for_status()

    def accepts_connections(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(STOP_TIMEOUT_S)

    @property
    def memory(self) -> "ProcessMemory":
        assert self.process is not None
        return ProcessMemory(self.process.pid)


@dataclass(frozen=True)
class ProcessMemory:
    """The resident memory of a process, in MiB."""

    pid: int

    def now(self) -> float:
        return self._read("VmRSS:")

    def peak(self) -> float:
        """Return the most since the start of the process, or since `forget`."""
        return self._read("VmHWM:")

    def forget(self) -> None:
        """Let the peak begin at the present value."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def _read(self, name: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(name)[2].split()[0]) / 1024


@contextmanager
def open_files(pid: int) -> Iterator[list[int]]:
    """Watch a process; the list gets the largest number of its open files."""
    most = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_INTERVAL_S):
            most[0] = max(most[0], len(list(Path(f"/proc/{pid}/fd").iterdir())))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


@contextmanager
def web_service(*fill: str, **variables: str) -> Iterator[WebService]:
    """Serve a made-up season from a PostgreSQL of its own, with Redis as the cache.

    `fill` are options of `tests.fill`, `variables` more of the environment.
    """
    with ExitStack() as stack:
        # Not in pytest's own folder, which the user postgres cannot enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torres-soak-")))
        folder.chmod(0o755)
        postgres = servers.postgres(folder / "postgres", migrated=True)
        stack.callback(postgres.close)
        redis = servers.redis(folder / "redis")
        stack.callback(redis.close)
        service = WebService(
            folder,
            os.environ
            | {
                "TORRES_DATA": str(folder / "data"),
                "DATABASE_URL": postgres.url,
                "BROKER_URL": redis.url,
                "CACHE_URL": redis.url.removesuffix("0") + "1",
                "TMPDIR": str(folder),
            }
            | variables,
        )
        service.manage("migrate", "--verbosity", "0")
        service.fill(*fill)
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        stack.callback(service.close)
        service.start()
        yield service


def filled_service(games: int) -> Iterator[WebService]:
    """Yield a service of 500 bots with this number of games, or skip the test."""
    for program in ("initdb", "redis-server"):
        try:
            find_program(program)
        except ProgramMissing as why:
            part_missing(str(why))
    with web_service("--bots=500", f"--games={games}", "--tournaments=0") as service:
        yield service
