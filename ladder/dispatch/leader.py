"""Leader election: at most one dispatcher works on one database at a time.

With PostgreSQL, leadership is a lease by the clock of the database, which the tick
renews. A leader that hangs loses it to a standby. The fence of the lease grows with
each new leader, and every transaction of a leader begins with a look at it: an older
leader that wakes up changes nothing in a transaction. Single statements outside of
transactions name the state that they change, so a second leader does no harm by them.

SQLite is used by one host only, where the leader holds a locked file. This module knows
nothing of the leader's work.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection

from ladder.common.fixed_query import begins_transaction
from ladder.common.leases import Held, is_free, take
from ladder.moderation.models import DispatcherLease
from ladder.service.containment import LostLeadership
from ladder.service.service_parts import this_process
from torres.common.locks import locked

LEASE = timedelta(seconds=8)
RENEW_INTERVAL_S = 1.0
LONGEST_PAUSE = "5s"
"""PostgreSQL ends a leader's transaction that waits so long for its next statement.

It is shorter than the lease, because an open transaction holds off the next leader.
"""
_TABLE = DispatcherLease._meta.db_table  # noqa: SLF001 -- the documented way to its name
_CHECK = (
    "SELECT set_config('idle_in_transaction_session_timeout', %s, TRUE)"  # noqa: S608
    f" FROM {_TABLE} WHERE id = 1 AND fence = %s FOR SHARE"
)

_BEHIND_POOLER = (
    "DATABASE_URL leads to a connection pooler such as PgBouncer, which shares sessions"
    " and so breaks prepared statements. Set"
    " DATABASE_DIRECT_URL=postgres://… in addition, for all processes."
)
# Django's options for its own connections, which psycopg.connect() does not take.
_DJANGO_ONLY = ("pool", "server_side_binding")
# A direct URL replaces these parameters of the pooler's address.
_ADDRESS = ("host", "port", "user", "password", "dbname")

log = structlog.get_logger()


class Leadership:
    """The right to work as the only dispatcher, for as long as `is_held` is true."""

    def __init__(self, lease: Held[DispatcherLease] | None) -> None:
        """SQLite needs no lease: our process holds a file."""
        self._lease = lease
        self._renewed_at = time.monotonic()
        self._is_checking = False

    def is_held(self) -> bool:
        """True if we still lead. Renews the lease from time to time."""
        now = time.monotonic()
        if self._lease is None or now - self._renewed_at < RENEW_INTERVAL_S:
            return True
        self._renewed_at = now
        return self._lease.renew(LEASE)

    def guard(self, execute: Callable[..., object], sql: str, *rest: object) -> object:
        """Run a statement. If it begins a transaction, look first whether we lead.

        It is a wrapper of statements for Django. Between transactions it renews the
        lease, because a tick may take longer. Raises LostLeadership.
        """
        if not self._is_checking:
            self._is_checking = True
            try:
                if begins_transaction():
                    self._require_fence()
                elif not connection.in_atomic_block:
                    self.is_held()
            finally:
                self._is_checking = False
        return execute(sql, *rest)

    def _require_fence(self) -> None:
        """Keep the lease from being taken until the end of this transaction."""
        assert self._lease is not None
        with connection.cursor() as cursor:
            cursor.execute(_CHECK, [LONGEST_PAUSE, self._lease.fence])
            if cursor.fetchone() is None:
                raise LostLeadership("another dispatcher leads now")


@contextmanager
def leading() -> Iterator[Leadership | None]:
    """Lead inside the block; yield None if another dispatcher leads.

    Raises ImproperlyConfigured if a connection pooler is not declared in the settings.
    """
    if connection.vendor == "sqlite":
        with locked(settings.DATA_DIR / "dispatch.lock") as is_leader:
            yield Leadership(None) if is_leader else None
        return
    with direct_connection() as session:
        _refuse_pooler(session)
    lease = _take()
    if lease is None:
        yield None
        return
    leadership = Leadership(lease)
    try:
        with connection.execute_wrapper(leadership.guard):
            yield leadership
    finally:
        try:
            lease.give_up()
        except Error as error:
            log.warning("the lease of the dispatcher ends by itself", error=str(error))


def _take() -> Held[DispatcherLease] | None:
    row, _ = DispatcherLease.objects.get_or_create(pk=1)
    free = DispatcherLease.objects.filter(is_free())
    fence = take(free, row.pk, row.fence, LEASE, holder=this_process())
    if fence is None:
        return None
    return Held(DispatcherLease.objects.all(), row.pk, fence)


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
