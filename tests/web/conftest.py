import pytest
from django.test import Client

from ladder.accounts import tokens
from tests import factories


@pytest.fixture
def visit(db: None, data_dir):
    """Return a browser for a person's name, signed in; "" is anybody."""

    def browser(name: str) -> Client:
        client = Client()
        if name:
            token = tokens.token_for(name)
            assert client.post("/sign-in/", {"token": token}).status_code == 302
        return client

    return browser


@pytest.fixture
def show(db: None, data_dir):
    """A ladder with a played game, a bot of a hostile name, and a rejected upload."""
    return factories.everything()
