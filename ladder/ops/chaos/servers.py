"""PostgreSQL and Redis servers of one's own, to be broken at will.

Each lives in a folder, on a free port of one address, and dies with the folder's owner
when `close` is called. PostgreSQL refuses to run as root: there it runs as `postgres`.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

USER = "torres"
DEADLINE_S = 60.0
_FIRST_PORT, _PORTS = 10_000, 20_000
"""Below 32768, from where the kernel takes the ports of connections."""


class ServerMissing(Exception):
    """A program that is needed is not installed; the message says which."""


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port that nobody uses now, nor gets for a connection to elsewhere.

    A client could else have it by chance while its server is restarted.
    """
    while True:
        port = secrets.randbelow(_PORTS) + _FIRST_PORT
        with suppress(OSError), socket.socket() as probe:
            probe.bind((address, port))
            return port


def find(program: str) -> str:
    """Return where a server program is; Debian keeps PostgreSQL's off the path."""
    for folder in ["", *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")))]:
        if where := shutil.which(program, path=folder or None):
            return where
    raise ServerMissing(f"{program} is not installed")


def mortal() -> list[str]:
    """Let a program die with the thread that starts it, however that ends."""
    return [find("setpriv"), "--pdeathsig", "KILL"]


class _Process:
    """A server in the foreground, as a child of this process."""

    def __init__(self, folder: Path, address: str, prefix: Sequence[str]) -> None:
        self.folder, self.address = folder, address
        self.port = free_port() if address == "127.0.0.1" else 0
        self._prefix = list(prefix)
        self._child: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start it and wait until it takes connections. Safe to call when it runs."""
        until, pause = time.monotonic() + DEADLINE_S, threading.Event()
        while not (self._runs() and self.answers()):
            if time.monotonic() > until:
                name = type(self).__name__
                raise RuntimeError(f"{name} did not start: see {self.folder}/log")
            if not self._runs():  # or no longer: what is left of the last may hinder it
                self._launch()
            pause.wait(0.05)

    def _runs(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def _launch(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._child = subprocess.Popen(
                [*self._prefix, *mortal(), *self.command()],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def answers(self) -> bool:
        raise NotImplementedError

    def kill(self) -> None:
        """Take its power away."""
        if self._child is not None and self._runs():
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def send(self, number: signal.Signals) -> None:
        """Stop the world for it (SIGSTOP), or let it go on (SIGCONT)."""
        if self._child is not None and self._runs():
            os.killpg(self._child.pid, number)

    def close(self) -> None:
        """End it for good."""
        self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Redis(_Process):
    """Keeps what it was told for a second, as in production: append-only, everysec."""

    @property
    def url(self) -> str:
        return f"redis://{self.address}:{self.port}/0"

    def command(self) -> list[str]:
        return [
            find("redis-server"),
            *("--port", str(self.port), "--bind", self.address),
            *("--dir", str(self.folder), "--appendonly", "yes", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--protected-mode", "no"),
        ]

    def answers(self) -> bool:
        return self.tell("PING") == b"+PONG\r\n"

    def tell(self, *words: str) -> bytes:
        """Say one command, and return the raw answer; empty if nobody is there."""
        try:
            with socket.create_connection((self.address, self.port), 2) as line:
                line.sendall((" ".join(words) + "\r\n").encode())
                return line.recv(65536)
        except OSError:
            return b""


class Postgres(_Process):
    """A cluster of its own with one database; it survives being killed."""

    @property
    def url(self) -> str:
        return f"postgres://{USER}@{self.address}:{self.port}/{USER}"

    def create(self) -> None:
        """Make the cluster and, once it runs, the database."""
        self._own(self.folder)
        data = self.folder / "data"
        self._as_postgres(
            *(find("initdb"), "-D", str(data), "-U", USER, "--auth=trust"),
            *("--no-sync", "-E", "UTF8"),
        )
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all {USER} 0.0.0.0/0 trust\n")
        self.start()
        self._as_postgres(
            *(find("createdb"), "-h", self.address, "-p", str(self.port)),
            *("-U", USER, USER),
        )

    def command(self) -> list[str]:
        return [
            *self._become(),
            *mortal(),  # changing the user forgets it
            *(find("postgres"), "-D", str(self.folder / "data")),
            *("-p", str(self.port), "-c", f"listen_addresses={self.address}"),
            *("-c", f"unix_socket_directories={self.folder}"),
            *("-c", "max_connections=200", "-c", "fsync=off"),
        ]

    def answers(self) -> bool:
        ready = subprocess.run(
            [find("pg_isready"), "-q", "-h", self.address, "-p", str(self.port)],
            check=False,
        )
        return ready.returncode == 0

    def restart(self) -> None:
        """Let it crash and recover."""
        self.kill()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        self.start()

    def _as_postgres(self, *command: str) -> None:
        subprocess.run(
            [*self._prefix, *self._become(), *command], check=True, capture_output=True
        )

    @staticmethod
    def _become() -> list[str]:
        if os.geteuid() != 0:
            return []
        return [
            find("setpriv"),
            "--reuid=postgres",
            "--regid=postgres",
            "--clear-groups",
        ]

    @staticmethod
    def _own(folder: Path) -> None:
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)


def postgres(
    folder: Path, address: str = "127.0.0.1", prefix: Sequence[str] = ()
) -> Postgres:
    """Make and start a PostgreSQL; the folder and those above must be open to all."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Postgres(folder, address, prefix)
    server.port = server.port or 5432
    server.create()
    return server


def redis(
    folder: Path, address: str = "127.0.0.1", prefix: Sequence[str] = ()
) -> Redis:
    """Make and start a Redis."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Redis(folder, address, prefix)
    server.port = server.port or 6379
    server.start()
    return server
