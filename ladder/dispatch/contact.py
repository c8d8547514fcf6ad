"""Remembers when the dispatcher could last use the database.

While the database is away no worker can renew a lease. The dispatcher must not blame a
worker for a lease that ended then.
"""

from datetime import timedelta

from ladder.games.attempts import LEASE, Outage

# A worker gives its games up if it cannot renew their leases for longer than this.
MIN_OUTAGE_S = LEASE.total_seconds() / 3
# The dispatcher does not know what happened before it started.
UNKNOWN_PAST = timedelta(days=1)


class DatabaseContact:
    """The last outage of the database. Times are those of a monotonic clock, in s."""

    def __init__(self) -> None:
        self._last_contact: float | None = None
        self._outage: tuple[float | None, float] | None = None

    def confirm(self, now: float) -> Outage | None:
        """Record that the database answers; return the last outage, if there was one.

        The time before the first call counts as an outage.
        """
        last = self._last_contact
        if last is None or now - last > MIN_OUTAGE_S:
            self._outage = (last, now)
        self._last_contact = now
        if self._outage is None:
            return None
        began, ended = self._outage
        return Outage(
            began=UNKNOWN_PAST if began is None else timedelta(seconds=now - began),
            ended=timedelta(seconds=now - ended),
        )
