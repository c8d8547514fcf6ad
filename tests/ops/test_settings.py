"""A service with unsafe settings refuses to start; a laptop needs no settings."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from tests.ops.running import environment

POSTGRES = {"DATABASE_URL": "postgres://torres@127.0.0.1:1/torres"}
KEY = {"SECRET_KEY": "k" * 50}


SHOW_KEY = "import django.conf; print(django.conf.settings.SECRET_KEY)"
SHOW_HEADER = """
from django.test import Client
response = Client().get("/sign-in/", secure=True, headers={"host": "localhost"})
print(response.headers.get("Strict-Transport-Security"))
print(*(bool(cookie["secure"]) for cookie in response.cookies.values()))
"""


def check(
    data: Path, code: str = SHOW_KEY, **variables: str
) -> subprocess.CompletedProcess[str]:
    names = ("SECRET_KEY", "DATABASE_URL", "BROKER_URL", "TORRES_SANDBOX")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    return subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "--no-imports", "-c", code],
        cwd=settings.BASE_DIR,
        env=environment | {"TORRES_DATA": str(data)} | variables,
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
    )


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, "SECRET_KEY"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"SECRET_KEY": "CHANGE-me-to-fifty-random-characters"}, "SECRET_KEY"),
        (KEY | {"TORRES_SANDBOX": "none"}, "TORRES_UNSAFE"),
    ],
)
def test_a_service_with_postgresql_refuses_unsafe_settings(
    tmp_path: Path, variables: dict[str, str], name: str
) -> None:
    done = check(tmp_path / "data", **POSTGRES, **variables)

    assert done.returncode == 1
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_service_with_postgresql_accepts_safe_settings(tmp_path: Path) -> None:
    unsafe = {"TORRES_SANDBOX": "none", "TORRES_UNSAFE": "1"}

    for variables in (KEY, KEY | unsafe):
        done = check(tmp_path / "data", **POSTGRES, **variables)
        assert done.stdout.strip() == KEY["SECRET_KEY"], done.stderr


def test_a_laptop_gets_a_random_key_that_stays(tmp_path: Path) -> None:
    keys = [check(tmp_path / name).stdout.strip() for name in ("a", "a", "b")]

    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) >= 50


def test_a_database_with_data_gets_no_new_key(tmp_path: Path) -> None:
    """Somebody moved the database alone: all webhooks got other secrets."""
    first = Path(environment(tmp_path / "a")["TORRES_DATA"])
    key = "k" * 60
    (first / "secret.key").write_text(key)
    moved = tmp_path / "b"
    moved.mkdir()
    shutil.copy(first / "ladder.db", moved)
    refused = check(moved)

    assert refused.returncode == 1
    assert "secret.key" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (moved / "secret.key").exists()
    assert check(moved, SECRET_KEY="k" * 50).returncode == 0
    shutil.copy(first / "secret.key", moved)
    assert check(moved).stdout.strip() == key


def test_nobody_else_reads_the_database_and_the_key(tmp_path: Path) -> None:
    data = tmp_path / "data"
    check(data)

    assert stat.S_IMODE(data.stat().st_mode) == 0o711
    for name in ("ladder.db", "secret.key"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert sorted(path.name for path in data.iterdir()) == ["ladder.db", "secret.key"]


@pytest.mark.parametrize(
    ("https", "expected"),
    [("1", ["max-age=31536000", "True"]), ("0", ["None", "False"])],
)
def test_https_is_demanded_of_browsers(
    tmp_path: Path, https: str, expected: list[str]
) -> None:
    done = check(tmp_path / "data", SHOW_HEADER, TORRES_HTTPS=https)

    assert done.stdout.splitlines() == expected, done.stderr


@pytest.mark.parametrize(
    "password", ["olga-1234", "short7!", "password123", "92817364"]
)
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, User(username="olga-12345"))


def test_a_strong_password_is_accepted() -> None:
    validate_password("four words without sense", User(username="olga"))


@pytest.mark.parametrize(
    "variable",
    ["TORRES_PROXIES", "TORRES_RATE_PAGES", "TORRES_UPLOAD_BYTES", "TORRES_HTTPS"],
)
def test_a_setting_that_is_no_number_is_named(tmp_path: Path, variable: str) -> None:
    done = check(tmp_path / "data", **{variable: "many"})

    assert done.returncode == 1
    assert f"The settings are not valid: {variable} is 'many'." in done.stderr
