"""Limits of PostgreSQL for the time of a statement, and for its wait for a lock.

`ladder.settings` sets them for every session, so that no loop of the service hangs in a
statement. A loop that meets one logs the error and goes on. Commands that compute for
long have none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from django.db import connection
from psycopg.errors import LockNotAvailable, QueryCanceled

_cut_off = count(1)


@contextmanager
def lifted() -> Iterator[None]:
    """Let statements of this process take as long as they need, inside the block.

    Within a transaction the limits stay, because its session cannot be replaced.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield
        return
    options = connection.settings_dict["OPTIONS"]
    usual = options["options"]
    _disconnect()
    options["options"] = f"{usual} -c statement_timeout=0 -c lock_timeout=0"
    try:
        yield
    finally:
        options["options"] = usual
        _disconnect()


def _disconnect() -> None:
    """End the sessions of this process, because each keeps the limits of its start."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]


def met_by(error: BaseException) -> dict[str, int]:
    """Return a field for a log line: how many statements of this process were cut off.

    Empty if the error has another cause than a limit.
    """
    if isinstance(error.__cause__ or error, LockNotAvailable | QueryCanceled):
        return {"statements_cut_off": next(_cut_off)}
    return {}
