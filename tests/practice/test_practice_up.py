"""`manage.py up` plays games by hand without any setting, also after it was killed."""

import re
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.ops.running import environment, running_service, token_of

pytestmark = [pytest.mark.deep, pytest.mark.sandbox]
WAIT_S = 600.0


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a service with its own data folder."""
    return environment(tmp_path, TORRES_LEASE_SECONDS="3")


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
    with running_service(home, "--slots", "1") as (address, process):
        token = token_of(home, "ana")
        with closing(sign_in(address, token)) as client:
            game = begin(client)
            plies = [answer(client, game) for _ in range(3)]
        process.send_signal(signal.SIGKILL)
        process.wait()

    with (
        running_service(home, "--slots", "1") as (address, _),
        closing(sign_in(address, token)) as client,
    ):
        plies += [answer(client, game) for _ in range(3)]

    assert plies == sorted(set(plies))
