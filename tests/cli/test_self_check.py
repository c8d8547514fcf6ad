"""`torres self-check` and `torres --version`, against a service that really runs."""

import json
from collections.abc import Callable

import pytest
from pytest_django.live_server_helper import LiveServer

from ladder.web.api import service_views
from torres.runner.versions import versions

OWN = versions()


def test_the_version_names_the_formats(torres: Callable) -> None:
    done = torres("--version")

    assert done.stdout.splitlines() == [
        f"torres, version {OWN['torres']}",
        *(f"{name}: {OWN[name]}" for name in list(OWN)[1:]),
    ]
    assert (OWN["protocol"], OWN["replay"]) == ("torres/1", "torres-replay/1")
    assert done.returncode == 0


@pytest.mark.usefixtures("transactional_db")
def test_the_same_formats_pass(torres: Callable, live_server: LiveServer) -> None:
    done = torres("self-check", "--ladder", live_server.url)

    assert done.returncode == 0, done.stderr
    assert "understand each other" in done.stdout
    assert done.stdout.count("torres-replay/1") == 2


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(
    ("theirs", "differing"),
    [
        (OWN | {"protocol": "torres/2", "commit": "0"}, ["protocol"]),
        (OWN | {"rules": "2", "api": "v2"}, ["rules", "api"]),
        ({"torres": "0.0.1"}, ["rules", "protocol", "replay", "api"]),
        (OWN | {"torres": "7.0.0"}, []),
    ],
)
def test_other_formats_fail_and_another_release_does_not(
    torres: Callable,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    theirs: dict[str, str],
    differing: list[str],
) -> None:
    monkeypatch.setattr(service_views, "versions", lambda: theirs)
    told = torres("self-check", "--ladder", live_server.url)
    printed = torres("self-check", "--json", "--ladder", live_server.url)

    assert told.returncode == printed.returncode == (1 if differing else 0)
    assert all(f" {name}" in told.stdout for name in differing)
    assert json.loads(printed.stdout) == {
        "here": OWN,
        "service": theirs,
        "differing": differing,
    }


def test_a_service_that_does_not_answer_is_named(torres: Callable) -> None:
    done = torres("self-check", "--ladder", "http://127.0.0.1:9")

    assert done.returncode == 2
    assert "http://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
