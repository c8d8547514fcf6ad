"""The examples and the names in engine/README.md work."""

import re
from pathlib import Path
from random import Random
from typing import Any

import engine
from tests.engine.factories import game

FOLDER = Path(engine.__file__).parent
PAGE = (FOLDER / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_first_example_plays_a_game(capsys: Any) -> None:
    exec(EXAMPLES[0], {})

    assert "completed" in capsys.readouterr().out


def test_the_monte_carlo_example_finds_a_legal_action() -> None:
    names: dict[str, Any] = {}
    exec(EXAMPLES[1], names)
    torres = game("yucata", 2)
    rng = Random(1)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    view = torres.state(torres.seat)
    action = names["choose"](torres.rules, torres.decision, view, rng, 1)

    assert action in torres.legal()
    assert len(EXAMPLES[1].strip().splitlines()) <= 30


def test_every_module_and_function_that_is_named_exists() -> None:
    for row in re.findall(r"^\| sections? \d.*\|$", PAGE, re.MULTILINE):
        code = re.findall(r"`([\w.]+)`", row)
        if not any(name.endswith(".py") for name in code):
            continue  # the row is a ruling
        sources = "".join(
            (FOLDER / name).read_text() for name in code if name.endswith(".py")
        )
        sources += (FOLDER / "game.py").read_text()
        for name in code:
            if not name.endswith(".py"):
                assert f"def {name.split('.')[-1]}(" in sources, name


def test_the_monte_carlo_example_never_forfeits() -> None:
    """It played cards that it had just bought, and forfeited 6 of 10 games."""
    names: dict[str, Any] = {}
    exec(EXAMPLES[1], names)
    for number in range(10):
        torres = game("yucata", 2, seed=f"example {number}")
        rng = Random(number)
        while not torres.over:
            if torres.seat == number % 2:
                view = torres.state(torres.seat)
                action = names["choose"](torres.rules, torres.decision, view, rng, 1)
            else:
                action = rng.choice(torres.legal())
            torres.play(action)  # IllegalAction fails the test
