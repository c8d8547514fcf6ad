"""The receiver of docs/events.md runs, and accepts genuine deliveries only."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx
import pytest
from django.conf import settings

from ladder.extras.webhooks import signing
from ladder.extras.webhooks.sender import Sender
from tests.webhooks.factories import (
    RECEIVER_TIMEOUT_S,
    TIMEOUT_S,
    happen,
    receiver_that_is_down,
    url_of,
    webhook,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback"),
]
PAGE = settings.BASE_DIR / "docs/events.md"
MAX_LINES = 30


def example() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(code)


@contextmanager
def running(folder: Path, port: int, secret: str) -> Iterator["subprocess.Popen[str]"]:
    program = folder / "receiver.py"
    program.write_text(example())
    process = subprocess.Popen(
        [sys.executable, program],
        env=os.environ | {"PORT": str(port), "WEBHOOK_SECRET": secret},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        wait_for(port)
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(port: int) -> None:
    ends = time.monotonic() + TIMEOUT_S
    while time.monotonic() < ends:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        threading.Event().wait(0.05)
    raise AssertionError("the receiver does not listen")


def test_the_example_is_short() -> None:
    lines = [line for line in example().splitlines() if line]

    assert len(lines) <= MAX_LINES


def test_the_example_receives_genuine_events_only(tmp_path: Path) -> None:
    with receiver_that_is_down() as port:
        hook = webhook(url_of(port))
        secret = signing.secret_of(hook.salt)
        with running(tmp_path, port, secret) as process:
            forged = httpx.post(
                url_of(port),
                content=b"{}",
                headers=signing.headers(signing.new_salt(), "evt_1", 0, b"{}"),
                timeout=60,
            )
            happen("genuine")
            sender = Sender(rng=Random(1), timeout_s=RECEIVER_TIMEOUT_S)
            sender.drain()
            sender.close()
            assert process.stdout is not None
            printed = process.stdout.readline()

    assert forged.status_code == 401
    assert hook.deliveries.get().status == "delivered"
    assert "genuine" in printed
    assert json.dumps("genuine").strip('"') in printed
