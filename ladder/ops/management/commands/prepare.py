"""`manage.py prepare`: prepare the database for this version. Safe to repeat."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from ladder.bots import house_bots
from ladder.common.commands import LongCommand
from ladder.ops import worker_role
from ladder.ops.console import say
from ladder.ops.exclusion import alone
from ladder.ratings.ladders import ensure_default_ladder
from torres.common.pause import pause

LOCK_TIMEOUT = "2s"
PAUSE_S = 3.0


class Command(LongCommand):
    help = (
        "Migrate the database, grant the rights of workers, install the house bots,"
        " open the default ladder and, if TORRES_STATIC is set, collect the static"
        " files."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        # The first step: a web server looks for the files when it starts, perhaps as
        # soon as the database is migrated.
        if settings.STATIC_ROOT:
            call_command("collectstatic", interactive=False, verbosity=0)
        with alone("A backup, or another prepare, runs. Waiting until it ends …"):
            self._migrate(options["verbosity"])
        house_bots.ensure_house_bots()
        ladder = ensure_default_ladder()
        self.stdout.write(f"Ready: the ladder {ladder.slug!r} is open.")

    def _migrate(self, verbosity: int) -> None:
        """Migrate the database when no other session uses the tables that change.

        A change of a table waits for its readers, for example a backup, and all later
        sessions wait behind the change, so no game could be claimed. Each try therefore
        waits for two seconds only, and other sessions continue between the tries.
        """
        if connection.vendor != "postgresql":
            call_command("migrate", verbosity=verbosity)
            return
        is_waiting = False
        while True:
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
            try:
                call_command("migrate", verbosity=verbosity)
                _grant_to_workers()
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
            else:
                break
            finally:
                connection.close()  # the next session has the usual timeout
            if not is_waiting:
                is_waiting = True
                say(
                    "Another session, perhaps a backup, uses a table that has to"
                    " change. Waiting until it ends …"
                )
            pause(PAUSE_S)


def _grant_to_workers() -> None:
    """Give workers their rights on new columns and tables, if they have a role."""
    password = settings.TORRES_WORKER_PASSWORD
    if password or worker_role.exists():
        worker_role.grant()
    if password:
        worker_role.let_in(worker_role.common_name(), password)
