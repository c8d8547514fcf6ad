import pytest


@pytest.fixture(autouse=True)
def _scripted(scripted_players: None) -> None:
    """Play games without processes."""
