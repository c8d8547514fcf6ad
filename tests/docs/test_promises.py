"""Pages that name the test behind each promise name tests that exist."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PLACE = re.compile(r"`((?:tests/\S+/)?test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)")


@pytest.mark.parametrize(
    ("page", "folder"),
    [("ratings.md", "tests/ratings"), ("public-log.md", "tests/public_log")],
)
def test_each_promise_names_a_test_that_exists(page: str, folder: str) -> None:
    _, section = (ROOT / "docs" / page).read_text().split("\n## Which test shows what")
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for row in rows:
        places = PLACE.findall(row)
        assert places or row.endswith("| the same test |"), row
        for file, tests in places:
            path = ROOT / file if "/" in file else ROOT / folder / file
            for test in re.findall(r"test_\w+", tests):
                assert f"def {test}(" in path.read_text(), f"{path}: {test}"
