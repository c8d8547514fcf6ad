"""The pages promise only things that the code does."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine import moves
from engine.editions import PRESETS
from engine.faults import Fault
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from torres.runner.protocol import Limits

TORRES = Path(sys.executable).with_name("torres")
ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = (ROOT / "docs/protocol.md").read_text()
README = (ROOT / "README.md").read_text()
STATE = TorresGame(resolve("yucata", 2), derive(resolve("yucata", 2), "x")).state(0)


@pytest.mark.parametrize("reason", Fault)
def test_every_reason_to_forfeit_is_explained(reason: str) -> None:
    assert f"| `{reason}` |" in PROTOCOL


@pytest.mark.parametrize("decision", moves.Decision)
def test_every_decision_is_explained(decision: str) -> None:
    assert f"| `{decision}` |" in PROTOCOL


@pytest.mark.parametrize("card", moves.CARDS)
def test_every_card_is_explained(card: str) -> None:
    assert f"`play {card}" in PROTOCOL


@pytest.mark.parametrize("key", STATE)
def test_every_key_of_the_state_is_explained(key: str) -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PROTOCOL, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert key in named


def test_the_limits_in_the_example_are_the_defaults() -> None:
    flat = " ".join(PROTOCOL.split())
    limits = re.search(r'"limits":(\{.*?\})', flat)

    assert limits
    assert json.loads(limits[1]) == Limits().as_dict()


@pytest.mark.parametrize("page", [PROTOCOL, README], ids=["protocol", "readme"])
def test_the_smallest_bot_is_python(page: str) -> None:
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)

    assert code
    ast.parse(code[1])


def test_the_smallest_bot_plays_a_whole_game(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", PROTOCOL, re.DOTALL)
    assert code
    (tmp_path / "bot.py").write_text(code[1])

    done = subprocess.run(
        [TORRES, "play", tmp_path, tmp_path, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["reason"] == "completed"


def test_the_readme_names_real_make_targets() -> None:
    targets = set(
        re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )

    assert set(re.findall(r"make ([a-z]+)", README)) <= targets


def test_ten_rulesets_are_promised_and_there() -> None:
    assert len(PRESETS) == 10
