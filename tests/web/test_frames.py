"""The frames of the viewer, compared with `torres trace` and with the scorings."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from engine.replay import trace
from engine.replay_format import open_game
from tests.engine.factories import RULESETS_AND_SEATS, random_replay
from torres.drawing import frames
from torres.drawing.board_svg import board_svg
from torres.runner.protocol import Limits


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
@pytest.mark.parametrize("seed", ["a", "b"])
def test_every_position_is_that_of_the_trace(
    ruleset: str, seats: int, seed: str
) -> None:
    replay = random_replay(ruleset, seats, seed)
    lines: list[Any] = list(trace(replay))

    shown = frames.of_replay(replay)

    assert len(shown) == len(lines)
    for frame, line in zip(shown, lines, strict=True):
        state = line["state"]
        assert frame["heights"] == [h for row in state["heights"] for h in row]
        for key in ("knights", "king", "scores", "stacks", "hands", "phase", "seat"):
            assert frame[key] == state[key]
    assert [frame["action"] for frame in shown[1:]] == [
        line["action"] for line in lines[:-1]
    ]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_castles_of_a_scoring_add_up_to_its_points(
    ruleset: str, seats: int
) -> None:
    replay = random_replay(ruleset, seats, "castles")

    scored = [row for row in frames.of_replay(replay) if row.get("ends_phase")]

    assert len(scored) == 3
    for frame, record in zip(scored, replay["scoring"], strict=True):
        points = [0] * seats
        for castle in frame["castles"]:
            for seat, _, value in castle["seats"]:
                points[seat] += value
        assert points == record["castles"]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_every_frame_has_its_castles_in_the_order_of_their_points(
    ruleset: str, seats: int
) -> None:
    for frame in frames.of_replay(random_replay(ruleset, seats, "order")):
        heights = {
            f"{column}{row}": frame["heights"][8 * (row - 1) + number]
            for row in range(1, 9)
            for number, column in enumerate("abcdefgh")
        }
        found = [space for castle in frame["castles"] for space in castle["spaces"]]
        assert sorted(found) == [space for space in sorted(heights) if heights[space]]
        best = []
        for castle in frame["castles"]:
            spaces = castle["spaces"]
            assert heights[spaces[0]] == max(heights[space] for space in spaces)
            points = [value for _, _, value in castle["seats"]]
            assert points == sorted(points, reverse=True)
            best.append((max(points, default=0), len(spaces)))
            first = [seat for seat, _, value in castle["seats"] if value == points[0]]
            assert castle["leader"] == (first[0] if len(first) == 1 else None)
        assert best == sorted(best, reverse=True)


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_another_seat_acts_only_after_a_frame_that_ends_a_turn(
    ruleset: str, seats: int
) -> None:
    shown = frames.of_replay(random_replay(ruleset, seats, "turns"))

    last = [index for index, frame in enumerate(shown) if frame.get("ends_turn")]
    changes = [
        index
        for index in range(1, len(shown) - 1)
        if shown[index + 1]["by"] != shown[index]["by"]
    ]
    assert set(changes) <= set(last)
    assert len(changes) < len(last) < len(shown) - 1


def test_a_frame_tells_the_clock_and_the_forfeit() -> None:
    replay = random_replay("yucata", 3, "clock")
    replay["moves"][0]["ms"] = 1_500.0

    shown = frames.of_replay(replay, Limits().as_dict())

    assert shown[0]["clock"] is None
    assert shown[1]["clock"] == {"ms": 1_500.0, "bank_ms": 9_500.0}
    failed = [frame["failed"] for frame in shown if frame["failed"]]
    assert failed == [[{"seat": replay["forfeits"][0]["seat"], "reason": "timeout"}]]


def test_later_frames_are_the_same_without_the_earlier_ones() -> None:
    replay = random_replay("yucata", 3, "since")
    middle = len(replay["moves"]) // 2
    seat = replay["moves"][middle]["seat"]
    replay["forfeits"] = [{"seat": seat, "before_move": middle, "reason": "crash"}]
    replay["moves"] = replay["moves"][:middle]

    def record(since: int) -> list[dict[str, Any]]:
        game = open_game(replay)
        return frames.frames(game, replay["moves"], replay["forfeits"], since=since)

    all_frames = record(0)
    for since in (1, len(all_frames) // 2, len(all_frames) - 1):
        assert record(since)[since:] == all_frames[since:]
    assert record(len(all_frames))[-1] == all_frames[-1]


def test_the_picture_shows_the_position_and_escapes_names() -> None:
    shown = frames.of_replay(random_replay("yucata", 2, "picture"))
    frame = shown[-1]

    root = ET.fromstring(board_svg(frame, ["<script>", "two"]))

    groups = root.findall("{http://www.w3.org/2000/svg}g")
    figures = [group for group in groups if group.get("fill") != "none"]
    assert len(figures) == sum(map(len, frame["knights"])) + (frame["king"] is not None)
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == f"<script> {frame['scores'][0]}, two {frame['scores'][1]}"
    assert board_svg(shown[0], ["a", "b"]) != board_svg(frame, ["a", "b"])
