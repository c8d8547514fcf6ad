"""Control groups of version 2 alone, in a virtual machine: most hosts have no other.

The suite's own attacks on memory and processes run in it, in the folder of a service;
`torres doctor` tries all controls in three places of the hierarchy.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import part_missing
from tests.runner.test_attacks import FORFEITS
from tests.soak.vm.attacks import NAMES
from tests.soak.vm.machine import HERE, PartMissing, boot, parts

PATIENCE_S = 1_800
"""It is emulated, some twenty times slower than the host, and perhaps not alone."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all that the machine wrote."""
    if os.geteuid() != 0:
        part_missing("the virtual machine reads this host's files: run it as root")
    try:
        needed = parts()
    except PartMissing as why:
        part_missing(str(why))
    out = tmp_path_factory.mktemp("out")
    command = [sys.executable, str(HERE / "guest.py")]
    try:
        boot(needed, command, out, PATIENCE_S)
    finally:
        print((out / "console").read_text(errors="replace"))
    return out


def test_the_machine_has_version_2_alone(seen) -> None:
    kernel = json.loads((seen / "kernel.json").read_text())

    assert kernel["hierarchies"] == ["cgroup2"]
    assert {"memory", "pids"} <= set(kernel["controllers"])


@pytest.mark.parametrize("place", ["root", "service", "user"])
def test_every_control_is_held(seen, place: str) -> None:
    found = json.loads((seen / f"doctor-{place}.json").read_text())

    assert [c for c in found["controls"] if not c["held"]] == []
    assert found["level"] == "full"
    how = {c["name"]: c["how"] for c in found["controls"]}
    assert how["control groups"] == "cgroup version 2"
    assert how["memory limit"] == "killed at its limit"


@pytest.mark.parametrize("name", NAMES)
def test_the_attack_is_held(seen, name: str) -> None:
    lines = (seen / "attacks.jsonl").read_text().splitlines()
    (game,) = (g for g in map(json.loads, lines) if g["name"] == name)

    if name in FORFEITS:
        assert game["reason"] in FORFEITS[name], game
    else:
        assert game["reason"] is None, game
        assert game["stderr"].startswith("HELD"), game
        assert game["answers"] == 3
    assert game["opponent_answers"] == 3
    assert game["survivors"] == game["groups_left"] == []
