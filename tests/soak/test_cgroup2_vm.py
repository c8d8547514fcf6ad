"""The sandbox with only version 2 of control groups, in a virtual machine.

Most hosts have only this version. The attacks on memory and processes run as in a
service, and `torres doctor` checks all controls in three places of the hierarchy.
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

# The machine is emulated, about twenty times slower than the host.
VM_TIMEOUT_S = 1_800


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Boot the machine and return the folder with everything that it wrote."""
    if os.geteuid() != 0:
        part_missing("the virtual machine reads this host's files: run it as root")
    try:
        needed = parts()
    except PartMissing as why:
        part_missing(str(why))
    out = tmp_path_factory.mktemp("out")
    command = [sys.executable, str(HERE / "guest.py")]
    try:
        boot(needed, command, out, VM_TIMEOUT_S)
    finally:
        print((out / "console").read_text(errors="replace"))
    return out


def test_the_machine_has_version_2_alone(output) -> None:
    kernel = json.loads((output / "kernel.json").read_text())

    assert kernel["hierarchies"] == ["cgroup2"]
    assert {"memory", "pids"} <= set(kernel["controllers"])


@pytest.mark.parametrize("place", ["root", "service", "user"])
def test_every_control_is_held(output, place: str) -> None:
    report = json.loads((output / f"doctor-{place}.json").read_text())

    assert [c for c in report["controls"] if not c["held"]] == []
    assert report["level"] == "full"
    how = {c["name"]: c["how"] for c in report["controls"]}
    assert how["control groups"] == "cgroup version 2"
    assert how["memory limit"] == "killed at its limit"


@pytest.mark.parametrize("name", NAMES)
def test_the_attack_is_held(output, name: str) -> None:
    lines = (output / "attacks.jsonl").read_text().splitlines()
    (game,) = (g for g in map(json.loads, lines) if g["name"] == name)

    if name in FORFEITS:
        assert game["reason"] in FORFEITS[name], game
    else:
        assert game["reason"] is None, game
        assert game["stderr"].startswith("HELD"), game
        assert game["answers"] == 3
    assert game["opponent_answers"] == 3
    assert game["survivors"] == game["groups_left"] == []
