"""A PostgreSQL of its own for tests of whole dispatchers."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import servers
from tests.ops.conftest import _servers

__all__ = ["_servers"]


@pytest.fixture
def server(_servers: None) -> Iterator[servers.Postgres]:
    # Not in pytest's own folder, which the user postgres cannot enter.
    with TemporaryDirectory(prefix="torres-test-") as name:
        Path(name).chmod(0o755)
        postgres = servers.postgres(Path(name) / "cluster", migrated=True)
        yield postgres
        postgres.close()
