import threading
import time
from collections.abc import Callable

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import Settings

PASSWORD = "four words without sense"
TIMEOUT_S = 60  # generous, because the machine may be busy
Mailbox = Callable[[int], list[EmailMessage]]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        threading.Event().wait(0.02)


@pytest.fixture(autouse=True)
def _open(settings: Settings, db: None, data_dir: object) -> None:
    settings.TORRES_SIGN_UP = "open"
    # The real one takes a tenth of a second on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.TORRES_RATES = dict.fromkeys(settings.TORRES_RATES, 10**6)


@pytest.fixture
def mailbox(settings: Settings) -> Mailbox:
    """Let the service send mail. Return a function that waits for n messages."""
    settings.TORRES_SENDS_MAIL = True
    settings.DEFAULT_FROM_EMAIL = "ladder@example.org"

    def messages(number: int) -> list[EmailMessage]:
        wait_until(lambda: len(mail.outbox) >= number)
        return list(mail.outbox)

    return messages


@pytest.fixture
def ana() -> Client:
    """Ana has signed up on the page, so she is signed in by her password."""
    client = Client()
    form = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    assert client.post("/sign-up/", form).status_code == 302
    return client
