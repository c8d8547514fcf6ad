"""A service of real processes and bots is upgraded while games run.

The next version is a copy of this one with one more migration, which adds a column. The
steps are those of docs/operating.md: migrate, then replace one process after the other.
"""

import shutil
import signal
from pathlib import Path

import pytest
from django.conf import settings

from ladder.ops.chaos.monkey import ServiceProcess
from tests.soak.factories import Fleet, fleet, is_sound
from tests.soak.test_pauses import open_with_house_bots

pytestmark = [pytest.mark.usefixtures("_servers"), pytest.mark.sandbox]
WORKERS = 2
GAMES = 20  # before, between and after the steps
STOP_TIMEOUT_S = 60
PARTS = ("engine", "torres", "ladder", "docs", "manage.py", "pyproject.toml")
MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "LATEST")]
    operations = [
        migrations.RunSQL("ALTER TABLE games_game ADD COLUMN next_version boolean NULL")
    ]
"""


def next_version(folder: Path) -> Path:
    """Write the next version of the service."""
    tree = folder / "next"
    tree.mkdir()
    for name in PARTS:
        source = settings.BASE_DIR / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tree / name)
    migrations = tree / "ladder" / "games" / "migrations"
    latest = max(file.stem for file in migrations.glob("[0-9]*.py"))
    text = MIGRATION.replace("LATEST", latest)
    (migrations / "9999_next_version.py").write_text(text)
    return tree


def in_tree(tree: Path, part: ServiceProcess) -> ServiceProcess:
    """Return the same process in the next version."""
    command = [str(tree / "manage.py") if "manage.py" in w else w for w in part.command]
    env = part.env | {"PYTHONPATH": f"{tree.parent / 'path'}:{tree}"}
    return ServiceProcess(["env", f"--chdir={tree}", *command], env, part.log)


def stop(part: ServiceProcess) -> None:
    """Stop a process as a supervisor does, and wait until it has ended."""
    part.send(signal.SIGTERM)
    part.child.wait(STOP_TIMEOUT_S)


def let_it_play(service: Fleet) -> None:
    """Wait until every worker has claimed a game, and GAMES more have finished."""
    now = service.now()
    finished = "SELECT COUNT(*) FROM games_game WHERE status = 'finished'"
    claimed = (
        "SELECT COUNT(DISTINCT worker_id) FROM games_attempt WHERE started_at > %s"
    )
    goal = service.ask(finished)[0][0] + GAMES
    service.until(lambda: service.ask(finished)[0][0] >= goal, 300)
    service.until(lambda: service.ask(claimed, now)[0][0] >= WORKERS, 60)


def test_a_rolling_upgrade_loses_no_game_and_makes_no_bot_forfeit() -> None:
    env = {"TORRES_SANDBOX": "full"}
    with fleet(app="ladder.celery", one_host=True, env=env) as service:
        open_with_house_bots(service, WORKERS)
        tree = next_version(service.folder)
        let_it_play(service)

        manage = [str(tree / "manage.py"), "prepare"]
        prepare = ServiceProcess(
            ["env", f"--chdir={tree}", service.scheduler.command[0], *manage],
            service.environ(PYTHONPATH=str(tree)),
            service.folder / "prepare.log",
        )
        prepare.ensure_running()
        assert prepare.child.wait(STOP_TIMEOUT_S) == 0, service.logs()
        assert service.ask("SELECT next_version FROM games_game LIMIT 1") == [(None,)]
        let_it_play(service)  # the old version, with the new column

        old, service.scheduler = service.scheduler, in_tree(tree, service.scheduler)
        service.keep()  # as a standby, until the old one ends
        stop(old)
        for k, worker in enumerate(service.workers):
            stop(worker)
            service.workers[k] = in_tree(tree, worker)
            let_it_play(service)  # with workers of both versions, at first

        report = service.settle()
        faults = service.ask("SELECT fault, COUNT(*) FROM games_seat GROUP BY fault")
        attempts = service.ask(
            "SELECT outcome, COUNT(*) FROM games_attempt GROUP BY outcome"
        )
    print(f"attempts {attempts}, faults {faults}")
    assert is_sound(report)
    assert [fault for fault, _ in faults] == [""]
    assert set(dict(attempts)) <= {"finished", "released"}
