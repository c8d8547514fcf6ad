import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def _scripted(monkeypatch):
    """Scripted players, so that games start no processes."""
    monkeypatch.setattr(
        settings, "TORRES_OPEN_PLAYER", "ladder.ops.chaos.scripted_player.open_player"
    )
