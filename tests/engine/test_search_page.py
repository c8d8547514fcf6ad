"""The examples of docs/search.md run in their order, and its tables are complete."""

import re
from pathlib import Path

import pytest

from engine.evaluation import FEATURES
from engine.kernel import Position
from engine.moves import CARD_NAMES

PAGE = (Path(__file__).parents[2] / "docs/search.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TABLES = dict.fromkeys(re.findall(r"^\| (`[^|]*`) \|", PAGE, re.MULTILINE))


def test_the_examples_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(example, names)

    assert len(EXAMPLES) == 10
    assert "'castles': " in capsys.readouterr().out


def test_every_feature_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)`", " ".join(TABLES)))
    hands = {f"hand_{name}" for name in CARD_NAMES}

    assert set(FEATURES) - hands <= explained
    assert {f"hand_{CARD_NAMES[0]}", f"hand_{CARD_NAMES[-1]}"} <= explained


def test_every_method_and_attribute_of_a_position_exists() -> None:
    rows = [row for row in TABLES if "(" in row or "track" in row or "seat" in row]
    words = re.findall(r"`(\w+)", " ".join(rows))

    assert len(words) > 12
    for word in words:
        assert hasattr(Position(), word), word
