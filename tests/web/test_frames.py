"""The frames of the viewer, compared with `torres trace` and with the scorings."""

from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from engine.faults import Fault
from engine.replay import document, trace
from ladder.runner.protocol import Limits
from ladder.web import frames
from ladder.web.board_svg import board_svg
from tests.engine.factories import RULESETS_AND_SEATS, game


def random_replay(ruleset: str, seats: int, seed: str) -> dict[str, Any]:
    """Return the replay of a game of random actions, in which one seat forfeits."""
    torres = game(ruleset, seats, seed)
    rng = Random(seed)
    moves: list[dict[str, Any]] = []
    forfeits: list[dict[str, Any]] = []
    while not torres.over:
        if seats > 2 and torres.ply == 60:
            seat = torres.seat
            assert seat is not None
            torres.forfeit(seat, Fault.TIMEOUT)
            forfeit = {"seat": seat, "before_move": len(moves), "reason": "timeout"}
            forfeits.append(forfeit)
        if torres.seat in torres.forfeited:
            actions = torres.automatic()
            moves.append({"seat": torres.seat, "actions": actions, "auto": True})
            for action in actions:
                torres.play(action, auto=True)
            continue
        actions = [rng.choice(torres.legal())]
        moves.append({"seat": torres.seat, "actions": actions, "ms": 2.0})
        torres.play(actions[0])
        if seats > 2 and torres.ply == 60:
            continue
    players = [{"name": "x"}] * seats
    return document(torres, seed=seed, players=players, moves=moves, forfeits=forfeits)


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

    scored = [row for row in frames.of_replay(replay) if "castles" in row]

    assert len(scored) == 3
    for frame, record in zip(scored, replay["scoring"], strict=True):
        points = [0] * seats
        for castle in frame["castles"]:
            for seat, value in castle["points"]:
                points[seat] += value
        assert points == record["castles"]


def test_a_frame_tells_the_clock_and_the_forfeit() -> None:
    replay = random_replay("yucata", 3, "clock")
    replay["moves"][0]["ms"] = 1_500.0

    shown = frames.of_replay(replay, Limits().as_dict())

    assert shown[0]["clock"] is None
    assert shown[1]["clock"] == {"ms": 1_500.0, "bank_ms": 9_500.0}
    failed = [frame["failed"] for frame in shown if frame["failed"]]
    assert failed == [[{"seat": replay["forfeits"][0]["seat"], "reason": "timeout"}]]


def test_the_picture_shows_the_position_and_escapes_names() -> None:
    shown = frames.of_replay(random_replay("yucata", 2, "picture"))
    frame = shown[-1]

    root = ET.fromstring(board_svg(frame, ["<script>", "two"]))

    figures = root.findall("{http://www.w3.org/2000/svg}g")
    assert len(figures) == sum(map(len, frame["knights"])) + (frame["king"] is not None)
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == f"<script> {frame['scores'][0]}, two {frame['scores'][1]}"
    assert board_svg(shown[0], ["a", "b"]) != board_svg(frame, ["a", "b"])
