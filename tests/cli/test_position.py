"""Commands that read the text of a position, and print one to copy."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from engine.position_text import MARKER, position_from, text_of
from engine.replay import play_again
from tests.cli.conftest import Run
from tests.docs.pages import ROOT
from tests.engine.factories import random_replay

TEXT = re.search(
    rf"^{MARKER}.*$", (ROOT / "docs/positions.md").read_text(), re.MULTILINE
).group()  # type: ignore[union-attr] - the page has one, which its own test checks
END = re.sub(
    ":phase.*?:heights", ":phase=3:round=4:order=01:decision=over:heights", TEXT
)
END = re.sub(":stacks=.*:scores", ":scores", END)
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
        ("play", "house:random", "house:random", "--from", WRONG),
    ):
        refused = torres(*command)
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert refused.stderr == (
            "torres: king: he is on no castle; put him on a space with a block\n"
        )


def test_games_begin_at_a_position(torres: Run, tmp_path: Path) -> None:
    bots = ("house:greedy", "house:random")
    played = torres(
        "play", *bots, "--from", TEXT, "--protocol-log", "log", "--seed", 1, "--json"
    )
    again = torres("play", *bots, "--from", TEXT, "--seed", 1, "--json")
    asked = [
        json.loads(line.split(" ", 2)[2])
        for line in (tmp_path / "log").read_text().splitlines()
        if '"type":"decide"' in line
    ]
    first = asked[0]
    state = position_from(TEXT).game().state(1)

    assert played.returncode == 0, played.stderr
    assert played.stdout == again.stdout
    result = json.loads(played.stdout)
    assert (result["reason"], result["forfeits"]) == ("completed", [])
    assert result["scores"][0] > 9
    assert (first["decision"], first["ply"], first["state"]) == ("turn", 0, state)
    assert {message["state"]["phase"] for message in asked} == {2, 3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ruleset", "yucata"], "--ruleset: it does not go together with --from"),
        (["--switch", "max_buys=1"], "--switch: it does not go together with --from"),
        (["--replay", "game.json"], "--replay: it does not go together with --from"),
        (["house:random"], "the position has 2 seats; name as many bots"),
        (["--from", END], "the game is over in this position; choose an earlier one"),
    ],
)
def test_a_game_from_a_position_has_its_rules_and_no_replay(
    torres: Run, arguments: list[str], words: str
) -> None:
    bots = ("house:random", "house:random")
    refused = torres("play", *bots, "--from", TEXT, *arguments)

    assert refused.returncode == 2
    assert words in refused.stderr
    assert refused.stdout == ""
