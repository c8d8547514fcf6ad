from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_folder(data_dir: Path) -> None:
    """Store the packages of bots in the folder of the test."""
