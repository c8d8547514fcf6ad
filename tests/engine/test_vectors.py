"""Replays from an independent program, if ../shared/vectors exists."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from engine.replay import trace, verify
from engine.replay_format import InvalidReplay

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"
pytestmark = pytest.mark.skipif(not VECTORS.is_dir(), reason="no ../shared/vectors")


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def verdicts() -> list[dict[str, Any]]:
    path = VECTORS / "verdicts.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("path", sorted(VECTORS.glob("valid/*")), ids=lambda p: p.stem)
def test_a_valid_replay_gives_the_expected_trace(path: Path) -> None:
    name = f"{path.stem}.jsonl.gz"
    with gzip.open(VECTORS / "trace" / name, "rt", encoding="utf-8") as lines:
        expected = [json.loads(line) for line in lines]

    for line, other in zip(trace(read(path)), expected, strict=True):
        assert line == other
        assert list(line) == list(other)
        assert list(line["state"]) == list(other["state"])  # type: ignore[call-overload]


@pytest.mark.parametrize("verdict", verdicts(), ids=lambda v: v.get("why", "valid"))
def test_a_replay_gets_the_expected_verdict(verdict: dict[str, Any]) -> None:
    replay = read(VECTORS / verdict["file"])

    if verdict["exit"] == 0:
        verify(replay)
    else:
        with pytest.raises(InvalidReplay):
            verify(replay)
