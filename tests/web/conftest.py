import pytest
from django.test import Client

from ladder.accounts import tokens
from tests import factories


@pytest.fixture
def visit(db: None, data_dir):
    """Return a function: user name -> signed-in test client; "" is anonymous."""

    def browser(name: str) -> Client:
        client = Client()
        if name:
            token = tokens.token_for(name)
            assert client.post("/sign-in/", {"token": token}).status_code == 302
        return client

    return browser


@pytest.fixture
def show(db: None, data_dir):
    """A ladder with a finished game, a bot with a hostile name, a rejected upload."""
    return factories.everything()
