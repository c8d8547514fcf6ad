"""Private PostgreSQL and Redis servers that tests and chaos runs may break.

Each server has a folder and a free port of its own, and ends with the thread that
started it or when `close` is called. PostgreSQL refuses to run as root, so root starts
it as the user `postgres`.
"""

import os
import pwd
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from ladder.ops.programs import find_program
from torres.common.parents import end_with_parent
from torres.common.pause import pause

USER = "torres"
START_TIMEOUT_S = 60.0
# The kernel takes the ports of outgoing connections from 32768 upwards. A server's port
# must lie below, so that no client gets it while the server restarts.
_FIRST_PORT = 10_000
_PORT_COUNT = 20_000


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port that is free now and outside the range of outgoing connections."""
    while True:
        port = secrets.randbelow(_PORT_COUNT) + _FIRST_PORT
        with suppress(OSError), socket.socket() as probe:
            probe.bind((address, port))
            return port


class ServerProcess:
    """A server that runs in the foreground as a child of this process."""

    def __init__(self, folder: Path, address: str, prefix: Sequence[str]) -> None:
        self.folder = folder
        self.address = address
        self.port = free_port() if address == "127.0.0.1" else 0
        self._prefix = list(prefix)
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return the process at the root of the server. Raises RuntimeError."""
        if self._child is None:
            raise RuntimeError(f"{type(self).__name__} was not started.")
        return self._child.pid

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start the server and wait until it accepts connections.

        Does nothing if it runs already. Raises RuntimeError after START_TIMEOUT_S.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (self._runs() and self.accepts_connections()):
            if time.monotonic() > deadline:
                name = type(self).__name__
                raise RuntimeError(f"{name} did not start. Read {self.folder}/log.")
            # A process of its killed predecessor may still hold the port or the data;
            # then the server exits at once and is launched again.
            if not self._runs():
                self._launch()
            pause(0.05)

    def _runs(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def _launch(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._child = subprocess.Popen(
                [*self._prefix, *end_with_parent(), *self.command()],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def accepts_connections(self) -> bool:
        raise NotImplementedError

    def kill(self) -> None:
        """Kill the server and its children, as a power failure would."""
        if self._child is not None and self._runs():
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, for example SIGSTOP to freeze the server."""
        if self._child is not None and self._runs():
            os.killpg(self._child.pid, number)

    def close(self) -> None:
        """Stop the server for good."""
        self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Redis(ServerProcess):
    """A Redis with the persistence of production: append-only, synced every second."""

    @property
    def url(self) -> str:
        return f"redis://{self.address}:{self.port}/0"

    def command(self) -> list[str]:
        return [
            find_program("redis-server"),
            *("--port", str(self.port), "--bind", self.address),
            *("--dir", str(self.folder), "--appendonly", "yes", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--protected-mode", "no"),
        ]

    def accepts_connections(self) -> bool:
        return self.execute("PING") == b"+PONG\r\n"

    def execute(self, *words: str) -> bytes:
        """Send one command and return the raw reply; empty if there is no server."""
        try:
            with socket.create_connection((self.address, self.port), 2) as connection:
                connection.sendall((" ".join(words) + "\r\n").encode())
                return connection.recv(65536)
        except OSError:
            return b""


class Postgres(ServerProcess):
    """A PostgreSQL cluster with one database. Its data survive a kill."""

    @property
    def url(self) -> str:
        return f"postgres://{USER}@{self.address}:{self.port}/{USER}"

    def create(self) -> None:
        """Create the cluster, start it and create the database."""
        self._own(self.folder)
        data = self.folder / "data"
        self._as_postgres(
            *(find_program("initdb"), "-D", str(data), "-U", USER, "--auth=trust"),
            *("--no-sync", "-E", "UTF8"),
        )
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all {USER} 0.0.0.0/0 trust\n")
        self.start()
        self._as_postgres(
            *(find_program("createdb"), "-h", self.address, "-p", str(self.port)),
            *("-U", USER, USER),
        )

    def command(self) -> list[str]:
        return [
            *self.as_unprivileged(),
            *end_with_parent(),  # once more, because a change of the user resets it
            *(find_program("postgres"), "-D", str(self.folder / "data")),
            *("-p", str(self.port), "-c", f"listen_addresses={self.address}"),
            *("-c", f"unix_socket_directories={self.folder}"),
            *("-c", "max_connections=200", "-c", "fsync=off"),
        ]

    def accepts_connections(self) -> bool:
        ready = subprocess.run(
            [
                find_program("pg_isready"),
                "-q",
                "-h",
                self.address,
                "-p",
                str(self.port),
            ],
            check=False,
        )
        return ready.returncode == 0

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server and its sessions, which lead their own groups."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                stat = (process / "stat").read_text().rpartition(")")[2].split()
                if self.pid in (int(process.name), int(stat[1])):
                    os.kill(int(process.name), number)

    def restart(self) -> None:
        """Kill the server and start it again, so that it has to recover."""
        self.kill()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        self.start()

    def _as_postgres(self, *command: str) -> None:
        subprocess.run(
            [*self._prefix, *self.as_unprivileged(), *command],
            check=True,
            capture_output=True,
        )

    @staticmethod
    def as_unprivileged() -> list[str]:
        """Return a command prefix that changes root to the user `postgres`."""
        if os.geteuid() != 0:
            return []
        return [
            find_program("setpriv"),
            "--reuid=postgres",
            "--regid=postgres",
            "--clear-groups",
        ]

    @staticmethod
    def _own(folder: Path) -> None:
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
