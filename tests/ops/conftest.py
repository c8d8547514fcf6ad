import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def _servers() -> None:
    """Skip a test if PostgreSQL and Redis cannot be started here.

    With TESTS_REQUIRE_ALL the test fails instead.
    """
    installed = shutil.which("redis-server") and (
        shutil.which("initdb") or Path("/usr/lib/postgresql").is_dir()
    )
    if not installed:
        message = "needs PostgreSQL and Redis: apt-get install postgresql redis-server"
        if os.environ.get("TESTS_REQUIRE_ALL"):
            pytest.fail(message)
        pytest.skip(message)
