"""Other programs find tomorrow what they find today (docs/stability.md)."""

import pytest

from tests.stability.surfaces import SURFACES, broken, present, recorded

NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "printed" else [])
    for name in sorted(SURFACES)
]
BEFORE = [
    "GET /games/",
    "GET /games/ query bot: string",
    "POST /bots/",
    "POST /bots/ body application/json: NewBot",
    "NewBot.name: string, required",
    "Bot.slug: string, required",
    "torres play",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_promise_is_broken(name: str) -> None:
    assert broken(recorded(name), present(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_new_is_recorded(name: str) -> None:
    new = set(present(name)) - set(recorded(name))
    assert not new, f"Run python -m tests.stability to promise {sorted(new)}"


@pytest.mark.parametrize(
    "line",
    [
        "GET /games/ query season: integer, required",
        "NewBot.language: string, required",
        "torres play BOT, required",
        "torres play --seed text, required",
    ],
)
def test_a_new_demand_breaks_a_promise(line: str) -> None:
    assert broken(BEFORE, [*BEFORE, line]) == [f"new demand: {line}"]


@pytest.mark.parametrize(
    "line",
    [
        "GET /games/ query season: integer",
        "GET /seasons/",
        "GET /seasons/ query ladder: string, required",
        "Bot.country: string, required",
        "NewBot.language: string",
        "torres play --seed text",
        "torres seed FILE, required",
    ],
)
def test_what_a_program_may_ignore_breaks_none(line: str) -> None:
    assert broken(BEFORE, [*BEFORE, line]) == []


@pytest.mark.parametrize("line", BEFORE)
def test_a_line_that_is_gone_breaks_a_promise(line: str) -> None:
    assert broken(BEFORE, set(BEFORE) - {line}) == [f"gone: {line}"]


def test_another_type_breaks_a_promise() -> None:
    now = {*BEFORE, "GET /games/ query bot: integer"}
    now.remove("GET /games/ query bot: string")
    assert broken(BEFORE, now) == ["gone: GET /games/ query bot: string"]
