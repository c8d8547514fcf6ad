"""Django's backend of PostgreSQL, which does not test each connection of the pool.

Django lets the pool test every connection that it hands out, with an empty statement in
a transaction of its own: four of them for each game. Here a connection is tested if
nobody has taken it for a second, or if the server has sent something since, as it does
when it ends a session.
"""

import select
import time
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

MAX_UNTESTED_S = 1.0

_taken_at: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of Django. Leave `CONN_HEALTH_CHECKS` off: this class tests it."""

    def get_new_connection(
        self, conn_params: dict[str, Any]
    ) -> psycopg.Connection[Any]:
        """Take a connection that works from the pool, or open one without a pool."""
        connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        while self.pool and not _works(connection):
            self.pool.putconn(connection)  # it closes a broken one and opens another
            connection = super().get_new_connection(conn_params)
        _taken_at[connection] = time.monotonic()
        return connection


def _works(connection: psycopg.Connection[Any]) -> bool:
    taken_at = _taken_at.get(connection, float("-inf"))
    is_recent = time.monotonic() - taken_at < MAX_UNTESTED_S
    try:
        if not is_recent or _has_input(connection):
            ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        return False
    return True


def _has_input(connection: psycopg.Connection[Any]) -> bool:
    """True if the server has sent something that nobody has read."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
