"""`torres render`: the files that it writes, and what it refuses."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from tests.cli.conftest import Run
from tests.engine.factories import random_replay
from torres.drawing.board_scene import SEAT_COLOURS
from torres.drawing.frames import of_replay
from torres.drawing.raster import Film


@pytest.fixture
def replay(tmp_path: Path) -> dict[str, Any]:
    document = random_replay("yucata", 3, "render")
    (tmp_path / "game.json").write_text(json.dumps(document))
    return document


def test_pictures_and_the_animation_are_written(
    torres: Run, tmp_path: Path, replay: dict[str, Any]
) -> None:
    count = len(of_replay(replay))
    for name in ("end.svg", "end.png", "game.gif"):
        result = torres("render", "game.json", "--output", name, "--width", 200)
        assert result.stdout == f"{name}\n", result.stderr

    svg = ET.parse(tmp_path / "end.svg").getroot()
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    with Image.open(tmp_path / "end.png") as still:
        assert (still.format, still.width) == ("PNG", 200)
        size = still.size
    with Image.open(tmp_path / "game.gif") as film:
        assert (film.format, film.size) == ("GIF", size)
        duration = 0
        for index in range(film.n_frames):
            film.seek(index)
            duration += film.info["duration"]
    # Equal pictures become one that is shown longer.
    assert duration == pytest.approx(400 * count + 3_000, abs=count * 10)


def test_the_position_can_be_chosen(
    torres: Run, tmp_path: Path, replay: dict[str, Any]
) -> None:
    last = len(of_replay(replay)) - 1
    for ply in (0, last):
        result = torres("render", "game.json", "--ply", ply, "--output", f"{ply}.png")
        assert result.returncode == 0, result.stderr

    assert (tmp_path / "0.png").read_bytes() != (tmp_path / f"{last}.png").read_bytes()

    beyond = torres("render", "game.json", "--ply", last + 1, "--output", "x.png")
    assert beyond.returncode == 2
    assert f"the game has {last} actions" in beyond.stderr
    assert not (tmp_path / "x.png").exists()


def test_a_figure_has_the_colour_of_its_seat(replay: dict[str, Any]) -> None:
    frames = of_replay(replay)
    seats = len(replay["players"])
    picture = Film(["one", "two", "three"], frames, 524).picture(0)
    colours = {colour for _, colour in picture.getcolors(1 << 20) or []}
    expected = [
        tuple(bytes.fromhex(colour.removeprefix("#"))) for colour in SEAT_COLOURS
    ]
    assert all(colour in colours for colour in expected[:seats])
    assert all(colour not in colours for colour in expected[seats:])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["game.json", "--output", "game.jpg"], 2, ".svg, .png or .gif is needed"),
        (["game.json", "--output", "game"], 2, ".svg, .png or .gif is needed"),
        (["game.json", "--output", "a.gif", "--ply", 3], 2, "shows the whole game"),
        (["game.json", "--output", "a.png", "--width", 9_000], 2, "100<=x<=2000"),
        (["game.json", "--output", "no/a.png"], 1, "no/a.png cannot be written"),
        (["no.json", "--output", "a.png"], 2, "No such file"),
        (["bad.json", "--output", "a.png"], 1, "bad.json: invalid: "),
    ],
)
def test_a_mistake_is_explained(
    torres: Run,
    tmp_path: Path,
    replay: dict[str, Any],
    arguments: list[object],
    code: int,
    message: str,
) -> None:
    replay["moves"][0]["actions"] = ["end"]
    (tmp_path / "bad.json").write_text(json.dumps(replay))

    result = torres("render", *arguments)

    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.glob("a.*")] == []
