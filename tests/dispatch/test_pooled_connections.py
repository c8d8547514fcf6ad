"""Connections of the pool are tested seldom, and a broken one fails no query."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests import servers

pytestmark = [pytest.mark.slow, pytest.mark.servers]
COMMON = """
import psycopg
from django.db import connection
from ladder.common.postgresql import base

def session():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (number,) = cursor.fetchone()
    connection.close()
    return number

base.MAX_UNTESTED_S = 1e9
"""


def printed(server: servers.Postgres, folder: Path, code: str) -> list[str]:
    """Run code in a process of the service; return the lines that it prints."""
    own = {"DATABASE_URL": server.url, "DB_POOL": "1", "TORRES_DATA": str(folder)}
    done = subprocess.run(
        [
            *(sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "-v0"),
            *("--no-imports", "-c", COMMON + code),
        ],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_connection_is_tested_after_a_pause_only(
    server: servers.Postgres, tmp_path: Path
) -> None:
    """Each test was a transaction, and a game took four connections."""
    code = """
tests = []
check = base.ConnectionPool.check_connection
base.ConnectionPool.check_connection = lambda each: (tests.append(1), check(each))
session()
tests.clear()
session()
session()
print(len(tests))
base.MAX_UNTESTED_S = 0
session()
session()
print(len(tests))
"""
    assert printed(server, tmp_path, code) == ["0", "2"]


def test_a_session_that_the_server_has_ended_fails_no_query(
    server: servers.Postgres, tmp_path: Path
) -> None:
    code = f"""
ended = session()
with psycopg.connect("{server.url}") as other:
    other.execute("SELECT pg_terminate_backend(%s, 60000)", [ended])
print(session() == ended)
"""
    assert printed(server, tmp_path, code) == ["False"]
