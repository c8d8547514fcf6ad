import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def _scripted(monkeypatch):
    """Let scripted players play the games, without processes."""
    monkeypatch.setattr(
        settings, "TORRES_OPEN_PLAYER", "ladder.ops.chaos.scripted_player.open_player"
    )
