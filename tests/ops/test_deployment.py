"""`manage.py check --deploy` finds what is missing for a service that strangers use."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection
from pytest_django import Settings

from ladder.ops import deployment
from tests import servers
from tests.games.factories import bots

POSTGRES = {"IS_POSTGRESQL": True}
SAFE: dict[str, Any] = {
    "SESSION_COOKIE_SECURE": True,
    "TORRES_PROXIES": 1,
    "CSRF_TRUSTED_ORIGINS": ["https://ladder.example.org"],
    "ALLOWED_HOSTS": ["ladder.example.org"],
}


def ids(check: Callable[..., Iterator[Any]]) -> list[str]:
    found = [*check()]
    assert all(message.hint for message in found)
    return [message.id.removeprefix("deployment.") for message in found]


def choose(settings: Settings, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(settings, name, value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"SESSION_COOKIE_SECURE": False}, ["W001"]),
        ({"TORRES_PROXIES": 0}, ["W002"]),
        ({"CSRF_TRUSTED_ORIGINS": []}, ["W003"]),
        ({"CSRF_TRUSTED_ORIGINS": ["http://ladder.example.org"]}, ["W003"]),
        ({"ALLOWED_HOSTS": ["localhost", "127.0.0.1"]}, ["W004"]),
        ({"ALLOWED_HOSTS": ["ladder.example.org", "*"]}, ["W004"]),
    ],
    ids=str,
)
def test_https_and_proxies(
    settings: Settings, changes: dict[str, Any], expected: list[str]
) -> None:
    choose(settings, SAFE | changes)
    assert ids(deployment.check_https) == expected


@pytest.mark.parametrize(
    "name", ["TORRES_METRICS_TOKEN", "TORRES_ALARM_URL", "TORRES_GITHUB_SECRET"]
)
def test_a_secret_of_the_example_is_refused(settings: Settings, name: str) -> None:
    assert ids(deployment.check_secrets) == []
    example = (configured.BASE_DIR / "deploy" / "example.env").read_text()
    assert deployment.PLACEHOLDER in example
    choose(settings, {name: "https://CHANGE-me"})
    (message,) = deployment.check_secrets()
    assert name in message.msg


@pytest.mark.django_db
def test_the_database_answers_and_is_new_enough(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ids(deployment.check_database) == []
    settings.IS_POSTGRESQL = True
    if connection.vendor == "postgresql":
        monkeypatch.setattr(deployment, "MIN_POSTGRESQL", 10**9)
        assert ids(deployment.check_database) == ["E003"]
    else:
        assert ids(deployment.check_database) == ["E002"]


@pytest.mark.django_db
def test_uploads_that_this_host_does_not_see(
    settings: Settings, data_dir: Path
) -> None:
    assert ids(deployment.check_storage) == []
    (bot,) = bots(1)
    package = bot.submissions.get().package
    storages["bots"].save(package, ContentFile(b"x"))
    assert ids(deployment.check_storage) == []
    storages["bots"].delete(package)
    (message,) = deployment.check_storage()
    assert message.id == "deployment.E004"
    assert "Of the newest 1 submissions 1 have no file" in message.msg


@pytest.mark.django_db
def test_uploads_in_the_checkout_are_not_shared(settings: Settings) -> None:
    choose(settings, POSTGRES | {"DATA_DIR": configured.BASE_DIR / ".data"})
    assert ids(deployment.check_storage) == ["W005"]


@pytest.mark.usefixtures("_servers")
def test_redis_that_forgets_messages(settings: Settings, tmp_path: Path) -> None:
    with servers.redis(tmp_path / "redis") as redis:
        settings.CELERY_BROKER_URL = redis.url
        assert ids(deployment.check_broker) == []
        redis.execute("CONFIG", "SET", "appendonly", "no")
        redis.execute("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        assert ids(deployment.check_broker) == ["W006", "W007"]


def test_a_broker_that_several_hosts_cannot_use(settings: Settings) -> None:
    assert ids(deployment.check_broker) == []
    choose(settings, POSTGRES)
    assert ids(deployment.check_broker) == ["E006"]
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    assert ids(deployment.check_broker) == ["E005"]


def test_counters_of_requests(settings: Settings) -> None:
    assert ids(deployment.check_cache) == []
    choose(settings, POSTGRES)
    assert ids(deployment.check_cache) == ["W009"]
    url = "redis://redis.example.org:6379/0"
    shared = {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url}
    choose(settings, {"CACHES": {"default": shared}, "CELERY_BROKER_URL": url})
    assert ids(deployment.check_cache) == ["W008"]


@pytest.mark.parametrize("level", ["full", "reduced", "none"])
def test_uploads_without_a_sandbox(settings: Settings, level: str) -> None:
    settings.TORRES_SANDBOX = level
    expected = ["W010"] if level == "none" else []
    assert ids(deployment.check_sandbox) == expected


def check_deploy(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    names = ("DATABASE_URL", "BROKER_URL", "TORRES_SANDBOX")
    home = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level=WARNING"],
        cwd=configured.BASE_DIR,
        env=home | {"TORRES_DATA": str(tmp_path / "data")} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_accepts_a_service_behind_a_proxy(tmp_path: Path) -> None:
    done = check_deploy(
        tmp_path,
        TORRES_HTTPS="1",
        TORRES_PROXIES="1",
        ALLOWED_HOSTS="ladder.example.org",
        CSRF_TRUSTED_ORIGINS="https://ladder.example.org",
        SECRET_KEY="ab" * 30 + "cdefghij",
    )
    assert done.returncode == 0, done.stderr


def test_the_command_fails_for_a_laptop(tmp_path: Path) -> None:
    done = check_deploy(tmp_path)
    assert done.returncode == 1
    for number in ("W001", "W004"):
        assert f"(deployment.{number})" in done.stderr
    assert "SECURE_" not in done.stderr  # settings that no variable sets
