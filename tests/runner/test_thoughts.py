"""A bot may say something in public, and how it judges its chances."""

import pytest

from engine.documents import Replay
from engine.game import TorresGame
from engine.referee import play
from engine.replay import verify
from engine.rulesets import resolve
from engine.setup import derive
from tests.engine.factories import random_replay
from tests.runner.factories import PROGRAMS, player
from torres.checking.playback import RecordedPlayer, compare, recorded_of
from torres.drawing.frames import of_replay
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Sandbox
from torres.runner.thoughts import (
    MAX_SAID_CHARS,
    MAX_SAY_CHARS,
    Thought,
    thought_of,
)


@pytest.mark.parametrize(
    ("say", "line"),
    [
        ("  b4 is\tmine\n", "b4 is mine"),
        ("\x1b[31mred\x07", "[31mred"),
        ("\u202eturned\u2066", "turned"),
        ("z" * 500, "z" * MAX_SAY_CHARS),
        (" " * 100_000, ""),
        (["b4"], ""),
    ],
)
def test_a_text_is_one_printable_line(say: object, line: str) -> None:
    assert (thought_of(say, None) or Thought()).say == line


@pytest.mark.parametrize(
    ("expect", "chance"),
    [
        (0, 0.0),
        (0.63149, 0.631),
        (1, 1.0),
        (True, None),
        (-0.1, None),
        (2, None),
        pytest.param(10**400, None, id="huge"),
        (float("nan"), None),
        ("0.5", None),
    ],
)
def test_a_chance_is_a_probability(expect: object, chance: float | None) -> None:
    assert (thought_of(None, expect) or Thought()).expect == chance


def test_thoughts_are_in_the_replay_and_never_a_fault(sandbox: Sandbox) -> None:
    rules = resolve("yucata", 2, {})
    bots = [player(PROGRAMS / "thinking_aloud.py", sandbox) for _ in range(2)]
    record = play(
        TorresGame(rules, derive(rules, "ab")),
        bots,
        seed="ab",
        limits=Limits().as_dict(),
    )
    replay = record.replay(seed="ab", players=[{"name": "a"}, {"name": "b"}])

    assert not record.forfeits
    verify(replay)
    own = [move for move in replay["moves"] if move["seat"] == 0]
    assert own[0]["say"] == "<script>alert(1)</script>[31m evil next"
    assert own[0]["expect"] == 0.631
    assert [move.get("expect") for move in own[1:6]] == [None] * 5
    assert [len(move.get("say", "")) for move in own[1:6]] == [0, 0, 200, 190, 0]
    said = sum(len(move.get("say", "")) for move in own)
    assert MAX_SAID_CHARS - MAX_SAY_CHARS < said <= MAX_SAID_CHARS
    shown = [frame["thought"] for frame in of_replay(replay) if "thought" in frame]
    assert {"say": own[0]["say"], "expect": 0.631} in shown
    assert len(shown) == sum("say" in m or "expect" in m for m in replay["moves"])


@pytest.mark.parametrize("value", [{"a": 1}, [], 1e308, 10**400, -1, None, "\x1b\x07"])
def test_the_replay_of_a_stranger_may_hold_anything_there(value: object) -> None:
    replay: Replay = random_replay("yucata", 2, "thoughts")
    replay["moves"][0] |= {"say": value, "expect": value, "ms": value}  # type: ignore[typeddict-item]

    verify(replay)
    assert "thought" not in of_replay(replay)[1]
    assert of_replay(replay, Limits().as_dict())[1]["clock"] is None
    bot = RecordedPlayer(recorded_of(replay, 0))
    assert compare(replay, 0, bot, Limits().as_dict()).difference is None
