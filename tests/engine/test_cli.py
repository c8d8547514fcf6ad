"""`torres verify`, `trace`, `show` and `rulesets` (docs/contract.md, section 9)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.editions import PRESETS
from engine.rulesets import SWITCHES
from tests.engine.test_replays import record
from torres.cli import replay_files, replays
from torres.cli.replays import show, trace, verify
from torres.cli.rulesets import rulesets
from torres.common.quoting import printable
from torres.drawing import board_text

ROOT = Path(__file__).parents[2]


def run(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def valid(tmp_path: Path) -> Path:
    path = tmp_path / "valid.json"
    path.write_text(json.dumps(record("yucata", 3, forfeits=(20,))))
    return path


@pytest.fixture
def invalid(tmp_path: Path) -> Path:
    path = tmp_path / "invalid.json"
    replay = record()
    replay["moves"][4]["actions"] = ["fly"]
    path.write_text(json.dumps(replay))
    return path


def test_a_valid_replay(valid: Path) -> None:
    result = run(verify, valid)

    assert (result.exit_code, result.stdout) == (0, f"{valid}: valid\n")


def test_an_invalid_replay(valid: Path, invalid: Path) -> None:
    result = run(verify, valid, invalid)

    assert result.exit_code == 1
    assert result.stdout.splitlines()[1] == (
        f"{invalid}: invalid: move 4: 'fly': it does not have the form of an "
        "action (docs/contract.md, section 4)"
    )


def test_a_file_that_is_not_json_does_not_stop_the_others(
    tmp_path: Path, valid: Path, invalid: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    result = run(verify, broken, tmp_path / "none", tmp_path, "a\0b", invalid, valid)

    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 2
    assert len(result.stderr.splitlines()) == 4


def test_json_that_is_no_replay_is_invalid(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("[]")

    assert run(verify, path).exit_code == 1


def test_a_file_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_files, "MAX_BYTES", 1000)

    assert run(verify, "/dev/zero").exit_code == 2


def test_many_replays_keep_their_order(
    valid: Path, invalid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_WORTH_A_PROCESS", 4)
    monkeypatch.setattr(replays, "processors", lambda: 2)
    result = run(verify, *[valid, invalid] * 30)

    words = [line.split(": ")[1] for line in result.stdout.splitlines()]
    assert words == ["valid", "invalid"] * 30


def test_a_trace_is_json_lines(valid: Path) -> None:
    lines = [json.loads(line) for line in run(trace, valid).stdout.splitlines()]

    assert [line["n"] for line in lines] == list(range(len(lines)))
    assert lines[-1]["over"] is True
    assert list(lines[0]) == ["n", "seat", "decision", "state", "legal", "action"]


@pytest.mark.parametrize("command", [trace, show])
def test_a_fault_is_one_line_on_stderr(
    command: Any, invalid: Path, tmp_path: Path
) -> None:
    result = run(command, invalid)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1

    result = run(command, tmp_path / "none")
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1


def test_a_reader_may_leave_early(valid: Path) -> None:
    code = f"from torres.cli.replays import trace; trace(['{valid}'])"
    pipe = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    pipe.stdout.read(10)
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    assert pipe.wait() == 0
    pipe.stderr.close()


def test_show_prints_plain_boards(valid: Path) -> None:
    output = run(show, valid, "--plain").stdout

    assert "   a  b  c  d  e  f  g  h" in output
    assert "\x1b" not in output
    assert "forfeited" in output
    assert "completed: 1." in output
    assert len(run(show, valid, "--actions").stdout) > len(output)


def test_an_unfinished_game_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "unfinished.json"
    path.write_text(json.dumps(record(stop=8)))

    assert "not finished" in run(show, path).stdout


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    replay = record(stop=8)
    replay["players"][0]["name"] = "\x1b[2Jevil\n"
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(replay))

    assert "\\x1b[2Jevil\\n" in run(show, path).stdout
    assert printable("a\x1bb") == "a\\x1bb"


def test_keys_turn_the_pages(valid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "_in_terminal", lambda: True)
    keys = iter(" b bq")
    monkeypatch.setattr("click.getchar", lambda: next(keys))
    output = run(show, valid).stdout

    pages = len(list(board_text.frames(json.loads(valid.read_text()))))
    footers = [line for line in output.splitlines() if line.endswith("space, b or q")]
    assert [line.split()[0] for line in footers] == ["1", "2", "1", "2", "1"]
    assert footers[0].startswith(f"1 of {pages}")


def test_rulesets_are_listed() -> None:
    output = run(rulesets).stdout

    for ruleset, preset in PRESETS.items():
        assert ruleset in output
        assert preset.source in output
    for switch in SWITCHES:
        assert switch in output


def test_rulesets_for_programs() -> None:
    listed = json.loads(run(rulesets, "--json").stdout)

    assert [row["id"] for row in listed] == list(PRESETS)
    assert listed[0]["switches"]["2"]["stack_limit"] == 3
    assert listed[0]["switches"]["3"]["stack_limit"] is None
