"""docs/operating.md explains every environment variable of the settings."""

import re

import pytest
from django.conf import settings

from ladder.ops.worker_access import BROKER_ACCESS, WORKER_ACCESS

PAGE = (settings.BASE_DIR / "docs" / "operating.md").read_text()
SOURCE = (settings.BASE_DIR / "ladder" / "settings.py").read_text()
ROWS = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", PAGE, re.MULTILINE))
VARIABLES = re.findall(r'\benv(?:\.\w+)?\(\s*"([A-Z_]+)"', SOURCE)
DEFAULTS = dict(
    re.findall(r'"([A-Z_]+)", default=([\d.]+(?: << \d+)?|True|False)\)', SOURCE)
)


def test_every_variable_is_on_the_page_and_no_other() -> None:
    assert set(ROWS) == set(VARIABLES)


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_a_default_on_the_page_is_that_of_the_settings(name: str) -> None:
    number, _, shift = DEFAULTS[name].partition(" << ")
    value = str(int(number) << int(shift)) if shift else number

    assert ROWS[name] == f"`{value}`"


def test_many_defaults_were_compared() -> None:
    assert len(DEFAULTS) > 15


@pytest.mark.parametrize("file", ["example.env", "example.worker.env"])
def test_the_example_sets_only_known_variables(file: str) -> None:
    lines = (settings.BASE_DIR / "deploy" / file).read_text().splitlines()
    names = {line.partition("=")[0] for line in lines if line and line[0] != "#"}

    assert names - {"POSTGRES_PASSWORD", "REDIS_PASSWORD"} <= set(ROWS)


def test_the_page_says_what_a_lost_host_can_do() -> None:
    """It has the lines that `manage.py worker_role --list` prints."""
    for access in (*WORKER_ACCESS, *BROKER_ACCESS):
        assert access.harm in PAGE
