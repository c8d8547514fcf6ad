"""Leader election: at most one dispatcher works on one database at a time.

The election uses a lock that disappears with its holder: an advisory lock of
PostgreSQL, or a locked file beside an SQLite database. This module knows nothing of
the leader's work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from torres.common.locks import locked

# The same number in every dispatcher of one database. The value has no meaning.
ADVISORY_LOCK_ID = 0x70_72_72_65_73

_BEHIND_POOLER = (
    "DATABASE_URL leads to a connection pooler such as PgBouncer, but the dispatcher's"
    " lock needs a direct connection to PostgreSQL. Set"
    " DATABASE_DIRECT_URL=postgres://… in addition, for all processes."
)
# Django's options for its own connections, which psycopg.connect() does not take.
_DJANGO_ONLY = ("pool", "server_side_binding")
# A direct URL replaces these parameters of the pooler's address.
_ADDRESS = ("host", "port", "user", "password", "dbname")


class Leadership:
    """The right to work as the only dispatcher, for as long as `is_held` is true."""

    def __init__(self, session: psycopg.Connection[Any] | None) -> None:
        """``session`` holds the lock. SQLite needs none: our process holds a file."""
        self._session = session

    def is_held(self) -> bool:
        """True if we still lead.

        The server releases the lock when its session ends, for example after a restart
        of the database. Then another dispatcher may lead already.
        """
        if self._session is None:
            return True
        try:
            self._session.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True


@contextmanager
def leading() -> Iterator[Leadership | None]:
    """Hold the dispatcher's lock inside the block; yield None if another holds it.

    Raises ImproperlyConfigured behind a connection pooler. There a lock belongs to
    the pooler's session and would outlive the dispatcher.
    """
    if connection.vendor == "sqlite":
        with locked(settings.DATA_DIR / "dispatch.lock") as is_leader:
            yield Leadership(None) if is_leader else None
        return
    with direct_connection() as session:
        _refuse_pooler(session)
        row = session.execute(
            "SELECT pg_try_advisory_lock(%s)", (ADVISORY_LOCK_ID,)
        ).fetchone()
        yield Leadership(session) if row and row[0] else None


def direct_connection() -> psycopg.Connection[Any]:
    """Open a session of PostgreSQL itself, outside of pools and poolers."""
    params: dict[str, Any] = connection.get_connection_params()
    direct_url = settings.DATABASE_DIRECT_URL
    unwanted = (*_DJANGO_ONLY, *_ADDRESS) if direct_url else _DJANGO_ONLY
    for name in unwanted:
        params.pop(name, None)
    return psycopg.connect(direct_url, **params, autocommit=True)


def _refuse_pooler(session: psycopg.Connection[Any]) -> None:
    """Raise ImproperlyConfigured if a pooler stands between us and PostgreSQL.

    A pooler announces a process id of its own when we connect, which differs from
    the id of the server process that answers queries.
    """
    row = session.execute("SELECT pg_backend_pid()").fetchone()
    if row != (session.info.backend_pid,):
        raise ImproperlyConfigured(_BEHIND_POOLER)
