import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def _servers() -> None:
    """PostgreSQL and Redis can be started here; under TORRES_REQUIRE_ALL they must."""
    there = shutil.which("redis-server") and (
        shutil.which("initdb") or Path("/usr/lib/postgresql").is_dir()
    )
    if not there:
        message = "needs the programs of PostgreSQL and Redis: apt-get install"
        if os.environ.get("TORRES_REQUIRE_ALL"):
            pytest.fail(message)
        pytest.skip(message)
