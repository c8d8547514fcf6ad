"""Backup and `prepare` exclude each other, so that neither sees half of the other.

A change of a table waits for a backup that reads it, and a backup that begins in the
middle of an upgrade may hold tables of two versions.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from ladder.dispatch.leader import direct_connection
from ladder.ops.console import say
from torres.common.locks import locked
from torres.common.pause import pause

LOCK = 7_235_410_982
"""The number of an advisory lock of PostgreSQL, for one database."""
RETRY_S = 1.0


@contextmanager
def alone(meanwhile: str) -> Iterator[None]:
    """Wait until no other process is inside such a block, and then enter it.

    `meanwhile` is printed if this has to wait. On PostgreSQL a session of its own holds
    the lock, which ends with the process or its host.
    """
    is_waiting = False
    while True:
        with _try() as entered:
            if entered:
                yield
                return
        if not is_waiting:
            is_waiting = True
            say(meanwhile)
        pause(RETRY_S)


@contextmanager
def _try() -> Iterator[bool]:
    if connection.vendor == "sqlite":
        with locked(settings.DATA_DIR / "prepare.lock") as entered:
            yield entered
        return
    with direct_connection() as session:
        row = session.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()
        yield row == (True,)
