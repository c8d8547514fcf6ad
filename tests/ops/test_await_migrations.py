"""Containers start their programs when the database is up to date, and not before."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

from tests import servers
from tests.ops.running import MANAGE_PY, environment

TIMEOUT_S = 60.0
WAITING = "waiting for the database"
PROGRAM = (sys.executable, "-c", "import sys; print('it runs', *sys.argv[1:])", "--a")


@contextmanager
def waiting(home: dict[str, str], *program: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*MANAGE_PY, "await_migrations", *program],
        env=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def problem(errors: IO[str] | None) -> str:
    """Return what the process says that it waits for."""
    assert errors is not None
    # The pool of connections logs its own lines.
    lines = (json.loads(line) for line in errors)
    return next(line["problem"] for line in lines if line["event"] == WAITING)


def prepare(home: dict[str, str]) -> None:
    done = subprocess.run(
        [*MANAGE_PY, "prepare"], env=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_program_starts_after_the_migrations(tmp_path: Path) -> None:
    home = environment(tmp_path, migrated=False)
    with waiting(home, *PROGRAM) as process:
        assert "migrations are missing. Run manage.py prepare" in problem(
            process.stderr
        )
        # It looks once a second.
        threading.Event().wait(2.5)
        assert process.poll() is None
        prepare(home)
        output, _ = process.communicate(timeout=TIMEOUT_S)

    assert (output, process.returncode) == ("it runs --a\n", 0)


@pytest.mark.slow
@pytest.mark.servers
@pytest.mark.usefixtures("_servers")
def test_a_program_waits_for_postgresql() -> None:
    with TemporaryDirectory(prefix="torres-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        home = environment(folder, migrated=False, SECRET_KEY="k" * 50)
        with servers.postgres(folder / "cluster", migrated=True) as database:
            home["DATABASE_URL"] = database.url
            database.kill()
            with waiting(home, *PROGRAM) as process:
                assert "Check DATABASE_URL" in problem(process.stderr)
                database.start()
                output, _ = process.communicate(timeout=TIMEOUT_S)

    assert (output, process.returncode) == ("it runs --a\n", 0)


@pytest.mark.slow
def test_the_exit_code_is_that_of_the_program(tmp_path: Path) -> None:
    home = environment(tmp_path)
    for program, code in (((), 0), (("sh", "-c", "exit 7"), 7)):
        with waiting(home, *program) as process:
            process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == code


@pytest.mark.slow
def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    home = environment(tmp_path)
    with waiting(home, "no-such-program") as process:
        _, errors = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 1
    assert "'no-such-program' cannot be started" in errors
    assert "Traceback" not in errors
