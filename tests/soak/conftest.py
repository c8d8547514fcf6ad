import pytest

from tests.ops.conftest import _servers
from tests.ops.test_up import data

__all__ = ["_servers", "data"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/soak" in str(item.path):
            item.add_marker(pytest.mark.soak)
