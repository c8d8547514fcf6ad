"""Whole games with a digest of every state, so that a changed rule fails a test.

To accept an intended change, run this file with TESTS_ACCEPT=1 and commit the files.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.replay import trace
from tests.engine.factories import RULESETS_AND_SEATS
from tests.engine.test_replays import record

FOLDER = Path(__file__).parent / "golden"


def digest(replay: Any) -> str:
    """Return SHA-256 of the lines of the replay's trace."""
    lines = hashlib.sha256()
    for line in trace(replay):
        lines.update(json.dumps(line).encode() + b"\n")
    return lines.hexdigest()


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_golden_game_is_unchanged(ruleset: str, seats: int) -> None:
    path = FOLDER / f"{ruleset}-{seats}.json"
    if os.environ.get("TESTS_ACCEPT") == "1":
        forfeits = (30,) if seats == 3 else ()
        replay = record(ruleset, seats, "golden", forfeits=forfeits)
        golden = {"trace": digest(replay), "replay": replay}
        path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    golden = json.loads(path.read_text())

    assert digest(golden["replay"]) == golden["trace"]
