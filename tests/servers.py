"""Start private PostgreSQL and Redis servers for tests."""

from collections.abc import Sequence
from pathlib import Path

from ladder.ops.chaos.servers import (
    Postgres,
    Redis,
    ServerProcess,
    free_port,
)
from tests import databases

__all__ = [
    "Postgres",
    "Redis",
    "ServerProcess",
    "free_port",
    "postgres",
    "redis",
]


def postgres(
    folder: Path,
    address: str = "127.0.0.1",
    prefix: Sequence[str] = (),
    *,
    migrated: bool = False,
) -> Postgres:
    """Create and start a PostgreSQL, with the tables of the service if `migrated`.

    All users must be able to enter the folder, since the server may run as `postgres`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    server = Postgres(folder, address, prefix)
    server.port = server.port or 5432
    if migrated:
        databases.create_postgres(server)
    else:
        server.create()
    return server


def redis(
    folder: Path, address: str = "127.0.0.1", prefix: Sequence[str] = ()
) -> Redis:
    """Create and start a Redis."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Redis(folder, address, prefix)
    server.port = server.port or 6379
    server.start()
    return server
