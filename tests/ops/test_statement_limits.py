"""No loop of the service waits for a table or a statement without end."""

import psycopg
import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_servers")]
LONG_S = 600.0
"""No wait below measures a time; each of them ends a test that hangs."""
SHOW = (
    "from django.db import connection",
    "session = connection.cursor()",
    "names = 'statement_timeout', 'lock_timeout'",
    "print([session.execute(f'SHOW {name}').fetchone()[0] for name in names])",
)


def logged(service: Fleet, name: str) -> bool:
    """True if a process has logged that a statement was cut off."""
    return "statements_cut_off" in (service.folder / f"{name}.log").read_text()


def test_a_locked_table_stops_no_loop() -> None:
    """A session that held a lock stopped all ticks and all claims until its end."""
    quick = {"app": "ladder.ops.chaos.celery"}  # a game takes milliseconds
    with fleet(env={"TORRES_LOCK_SECONDS": "0.2"}, **quick) as service:
        service.open([()])
        wait_for_work(service, LONG_S)
        with psycopg.connect(service.postgres.url) as other:
            other.execute("LOCK TABLE games_game IN ACCESS EXCLUSIVE MODE")

            service.until(lambda: logged(service, "scheduler"), LONG_S)
            service.until(lambda: logged(service, "host-0"), LONG_S)

        wait_for_work(service, LONG_S)
        assert is_sound(service.settle())


def test_only_long_computations_have_no_limit() -> None:
    with fleet() as service:
        shown = service.manage("shell", "-v0", "--command", "\n".join(SHOW))
        lift = "from ladder.common.statement_limits import lifted"
        within = "\n ".join(("with lifted():", *SHOW))
        lifted = service.manage(
            "shell", "-v0", "--command", "\n".join((lift, within, *SHOW))
        )

    assert shown == "['1min', '10s']\n"
    assert lifted == "['0', '0']\n" + shown
