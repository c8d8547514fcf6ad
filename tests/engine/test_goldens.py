"""Whole games with a digest of every state: any change of a rule shows.

To accept a wanted change, in a commit of its own: TORRES_ACCEPT=1 pytest this file.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.replay import trace
from tests.engine.factories import TABLES
from tests.engine.test_replays import record

FOLDER = Path(__file__).parent / "golden"


def digest(replay: Any) -> str:
    """SHA-256 over the lines of the replay's trace."""
    lines = hashlib.sha256()
    for line in trace(replay):
        lines.update(json.dumps(line).encode() + b"\n")
    return lines.hexdigest()


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_game_is_what_it_was(ruleset: str, seats: int) -> None:
    path = FOLDER / f"{ruleset}-{seats}.json"
    if os.environ.get("TORRES_ACCEPT") == "1":
        forfeits = (30,) if seats == 3 else ()
        replay = record(ruleset, seats, "golden", forfeits=forfeits)
        golden = {"trace": digest(replay), "replay": replay}
        path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    golden = json.loads(path.read_text())

    assert digest(golden["replay"]) == golden["trace"]
