import pytest
from pytest_django import Settings

from tests.webhooks.factories import MovedClock


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def loopback(settings: Settings) -> None:
    """Let webhooks be sent to receivers of this host."""
    settings.TORRES_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
