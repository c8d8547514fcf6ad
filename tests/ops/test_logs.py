"""Failures leave their tracebacks on stderr, as JSON lines without secrets."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from structlog.testing import capture_logs

from ladder.common.logs import LogLines, without_secrets

MANAGE = (sys.executable, settings.BASE_DIR / "manage.py")
SHELL = ("shell", "-v0", "--no-imports", "-c")
TOKEN = f"torres_{'a1B-' * 10}"
TASK = """
from ladder.celery import app
@app.task(name="broken")
def broken():
    raise RuntimeError("the reason, TOKEN")
app.set_default()
broken.apply(throw=False)
""".replace("TOKEN", TOKEN)
THREAD = f"""
import threading
def broken():
    raise RuntimeError("the reason, {TOKEN}")
thread = threading.Thread(target=broken)
thread.start()
thread.join()
"""


FLOOD = """
import structlog
for _ in range(40):
    structlog.get_logger().error("a line", exception="é" * 8000)
print("the work goes on")
"""


def manage(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *words],
        env=os.environ | {"TORRES_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("code", "event"),
    [
        (TASK, "Task broken"),
        (THREAD, "a thread failed"),
        (f"raise RuntimeError('the reason, {TOKEN}')", "a command failed"),
    ],
    ids=["task", "thread", "command"],
)
def test_a_failure_is_one_json_line(tmp_path: Path, code: str, event: str) -> None:
    done = manage(tmp_path, *SHELL, code)

    lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
    (line,) = [row for row in map(json.loads, lines) if event in row["event"]]
    assert "RuntimeError: the reason" in line["exception"]
    assert TOKEN not in done.stderr
    assert done.returncode == (1 if event == "a command failed" else 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"token {TOKEN} is bad", "token [secret] is bad"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [secret]"),
        ("redis://:hunter2@host:6379/0", "redis://[secret]@host:6379/0"),
        ("postgres://torres:pw@db/torres", "postgres://[secret]@db/torres"),
        ("https://ladder.example.org/a@b:c", "https://ladder.example.org/a@b:c"),
    ],
)
def test_secrets_are_hidden(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_record_with_wrong_arguments_is_logged() -> None:
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%d games", ("many",), None)
    with capture_logs() as lines:
        LogLines().emit(record)

    assert lines[0]["event"] == "%d games"


@pytest.mark.parametrize("is_open", [True, False], ids=["unread", "closed"])
def test_no_process_waits_for_a_reader_of_its_log(
    tmp_path: Path, *, is_open: bool
) -> None:
    reader, full = os.pipe()
    if not is_open:
        os.close(reader)
    done = subprocess.run(
        [*MANAGE, *SHELL, FLOOD],
        env=os.environ | {"TORRES_DATA": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=full,
        timeout=60,
        check=True,
        text=True,
    )
    os.close(full)

    assert done.stdout == "the work goes on\n"
    if is_open:
        with os.fdopen(reader, "rb") as pipe:
            kept = pipe.read()
        first = json.loads(kept.splitlines()[0])
        assert first["exception"] == "é" * 8000
        assert len(kept) < 40 * 8000
