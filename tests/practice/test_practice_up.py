"""`manage.py up` plays games by hand without any setting, also after it was killed."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from django.conf import settings

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
WAIT_S = 120.0


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a service with its own data folder."""
    variables = os.environ | {
        "TORRES_DATA": str(tmp_path / "data"),
        "TORRES_LEASE_SECONDS": "3",
    }
    for name in ("DATABASE_URL", "BROKER_URL"):
        variables.pop(name, None)
    return variables


@contextmanager
def service(home: dict[str, str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `manage.py up`; yield its address."""
    process = subprocess.Popen(
        [*MANAGE, "up", "--slots", "1", "--port", "0"],
        env=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = iter(process.stdout.readline, "")
        line = next(line for line in lines if line.startswith("LADDER="))
        yield line.strip().removeprefix("LADDER="), process
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_S)


def sign_in(address: str, token: str) -> httpx.Client:
    client = httpx.Client(base_url=address, follow_redirects=True, timeout=60)
    client.get("/sign-in/")
    data = {"token": token, "csrfmiddlewaretoken": client.cookies["csrftoken"]}
    assert client.post("/sign-in/", data=data).url.path == "/me/"
    return client


def begin(client: httpx.Client) -> str:
    page = client.get("/play/?bot=house-random").text
    house = re.search(r'<option value="(\d+)" selected>house:random', page)[1]
    data = {"one": house, "seat": "0", "ruleset": "yucata"}
    data["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
    return client.post("/play/", data=data).url.path


def question(client: httpx.Client, address: str) -> dict:
    deadline = time.monotonic() + WAIT_S
    while True:
        state = client.get(f"{address}state.json").json()
        if state["question"]:
            return state["question"]
        assert state["status"] in ("waiting", "running"), state
        assert time.monotonic() < deadline
        threading.Event().wait(0.1)


def answer(client: httpx.Client, address: str) -> int:
    asked = question(client, address)
    body = {"ply": asked["ply"], "actions": asked["legal"][-1:]}
    headers = {"X-CSRFToken": client.cookies["csrftoken"]}
    done = client.post(f"{address}answers/", json=body, headers=headers)
    assert done.status_code == 202, done.text
    return asked["ply"]


def test_up_plays_by_hand_and_goes_on_after_a_kill(home: dict[str, str]) -> None:
    with service(home) as (address, process):
        token = subprocess.run(
            [*MANAGE, "token", "ana"],
            env=home,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()[-1]
        with closing(sign_in(address, token)) as client:
            game = begin(client)
            plies = [answer(client, game) for _ in range(3)]
        process.send_signal(signal.SIGKILL)
        process.wait()

    with service(home) as (address, _), closing(sign_in(address, token)) as client:
        plies += [answer(client, game) for _ in range(3)]

    assert plies == sorted(set(plies))
