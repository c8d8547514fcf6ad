"""The examples of docs/positions.md hold, and its tables are complete."""

import re
from pathlib import Path

import pytest

from engine.errors import BadPosition
from engine.position_text import (
    CARD_LETTERS,
    FIELDS,
    MARKER,
    position_from,
    text_of,
)

PAGE = (Path(__file__).parents[2] / "docs/positions.md").read_text()
(TEXT,) = re.findall(rf"^{MARKER}.*$", PAGE, re.MULTILINE)
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ERRORS = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()


def test_the_text_of_the_page_is_canonical() -> None:
    placed = position_from(TEXT)

    assert text_of(placed.position, placed.rules) == TEXT


def test_the_program_of_the_page_prints_a_position(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(EXAMPLE, {})

    assert ":knights=a4/:" in capsys.readouterr().out


def test_every_field_and_every_card_is_explained() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)
    letters = dict(re.findall(r"`(.)` \| `(\w+)`", PAGE))

    assert set(FIELDS) <= set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert {name: letter for letter, name in letters.items()} == CARD_LETTERS


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("knights", "a1,a2,a4,a6,a7,a8,b1/a3,a5", ERRORS[0]),
        ("phase", "7", ERRORS[1]),
        (
            "heights",
            "..11..../......../..12.1.3/..1.1..9/1...12../..1.1121/......../....11..",
            ERRORS[2],
        ),
    ],
)
def test_the_errors_of_the_page_are_the_errors_of_the_engine(
    field: str, value: str, error: str
) -> None:
    text = re.sub(rf":{field}=[^:]*", f":{field}={value}", TEXT)
    with pytest.raises(BadPosition) as caught:
        position_from(text)

    assert str(caught.value) == error
