"""`torres analyse`: the tables, the JSON, and what it refuses."""

import json
from pathlib import Path

import pytest

from engine.position_text import position_from, text_of
from engine.replay import game_at
from engine.turning_points import analyse, what_if, what_if_from
from tests.cli.conftest import Run
from tests.engine.factories import random_replay


@pytest.fixture
def replay(tmp_path: Path) -> dict[str, object]:
    document: dict[str, object] = random_replay("yucata", 2, "analyse")
    (tmp_path / "game.json").write_text(json.dumps(document))
    return document


def test_the_json_is_that_of_the_engine(torres: Run, replay: dict[str, object]) -> None:
    whole = torres("analyse", "game.json", "--games", 2, "--json")
    assert whole.returncode == 0, whole.stderr
    expected = analyse(replay, 2)
    assert json.loads(whole.stdout) == expected

    ply = expected["turns"][-2]["ply"]
    part = torres("analyse", "game.json", "--ply", ply, "--games", 2, "--json")
    assert json.loads(part.stdout) == what_if(replay, ply, games=2)


def test_the_tables_have_a_row_for_each_turn_and_action(
    torres: Run, replay: dict[str, object]
) -> None:
    table = torres("analyse", "game.json", "--games", 2).stdout
    expected = analyse(replay, 2)
    assert table.count("phase ") == len(expected["swings"])

    ply = expected["turns"][-2]["ply"]
    printed = torres("analyse", "game.json", "--ply", ply, "--games", 2).stdout
    for entry in what_if(replay, ply, games=2)["alternatives"]:
        assert entry["action"] in printed


@pytest.mark.deep
@pytest.mark.slow
def test_the_text_of_a_position_can_be_analysed_without_its_replay(
    torres: Run, replay: dict[str, object]
) -> None:
    start = game_at(replay, 40)
    line = start.legal()[0]

    printed = torres("analyse", "game.json", "--ply", 40, "--games", 2).stdout
    text = printed.splitlines()[-1]
    again = torres("analyse", text, "--line", line, "--games", 2, "--json")
    table = torres("analyse", text, "--games", 2)
    refused = torres("analyse", text, "--ply", 40)

    assert text == text_of(start.position, start.rules)
    assert json.loads(again.stdout) == what_if_from(
        position_from(text).game(), [line], 2
    )
    assert table.stdout.splitlines()[-1] == text
    assert refused.returncode == 2
    assert "a position has no plies" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--line", "end"], "it needs --ply"),
        (["--ply", 99_999], "there is no ply 99999"),
        (["--ply", 5, "--line", "fly a1"], "action 1 of the line"),
        (["--games", 0], "--games"),
    ],
)
@pytest.mark.usefixtures("replay")
def test_what_cannot_be_is_explained(
    torres: Run, arguments: list[object], why: str
) -> None:
    result = torres("analyse", "game.json", *arguments)

    assert result.returncode in (1, 2)
    assert why in result.stderr
