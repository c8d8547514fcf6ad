"""Commands that read the text of a position, and print one to copy."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

from engine.position_text import MARKER, position_from, text_of
from engine.replay import play_again
from tests.cli.conftest import Run
from tests.docs.pages import ROOT
from tests.engine.factories import random_replay

TEXT = re.search(
    rf"^{MARKER}.*$", (ROOT / "docs/positions.md").read_text(), re.MULTILINE
).group()  # type: ignore[union-attr] - the page has one, which its own test checks
WRONG = TEXT.replace("king=f6", "king=f7")


def test_show_draws_a_position_and_prints_its_text(torres: Run) -> None:
    shown = torres("show", TEXT + ":carried=/")

    assert shown.returncode == 0, shown.stderr
    assert "phase 2 round 1  B decides: turn, 3 action points" in shown.stdout
    assert "5  .B .  1A .  1  .  2  2" in shown.stdout
    assert TEXT in shown.stdout.splitlines()


def test_show_prints_the_text_of_each_position_of_a_replay(
    torres: Run, tmp_path: Path
) -> None:
    document = random_replay("devir-2017", 2, "texts")
    (tmp_path / "game.json").write_text(json.dumps(document))
    expected: list[str] = []
    game = play_again(
        document, lambda g, _: expected.append(text_of(g.position, g.rules))
    )
    expected.append(text_of(game.position, game.rules))

    shown = torres("show", "game.json", "--plain", "--actions")
    texts = [line for line in shown.stdout.splitlines() if line.startswith(MARKER)]

    assert texts == expected[1:]
    assert position_from(texts[-1]).game().result == game.result


def test_render_draws_a_position(torres: Run, tmp_path: Path) -> None:
    drawn = torres("render", TEXT, "--output", "position.svg")
    animated = torres("render", TEXT, "--output", "position.gif")
    with_ply = torres("render", TEXT, "--output", "position.svg", "--ply", 3)

    assert drawn.returncode == 0, drawn.stderr
    title = ET.parse(tmp_path / "position.svg").getroot()[0]
    assert title.text == "seat 0 9, seat 1 0"
    for refused in (animated, with_ply):
        assert refused.returncode == 2
        assert "A position is one picture." in refused.stderr


def test_a_wrong_text_is_a_bad_argument(torres: Run) -> None:
    for command in (
        ("show", WRONG),
        ("render", WRONG, "--output", "x.svg"),
        ("analyse", WRONG),
    ):
        refused = torres(*command)
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert refused.stderr == (
            "torres: king: he is on no castle; put him on a space with a block\n"
        )
