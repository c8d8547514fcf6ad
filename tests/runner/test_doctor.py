"""`torres doctor` tries the controls; a refused level says what to do about it."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from torres.cli.doctor import doctor
from torres.runner.protocol import Limits
from torres.runner.sandbox import (
    Control,
    Sandbox,
    SandboxReport,
    SandboxUnavailable,
    open_sandbox,
    probing,
)
from torres.runner.sandbox.api import Program, Running
from torres.runner.sandbox.landlock import MIN_VERSION_SHARED_UID
from torres.runner.sandbox.opening import _level, probe
from torres.runner.zygote.landlock import version as landlock_version

CONTROLS = {
    "python3", "seccomp", "control groups", "own namespaces",
    "network", "sockets",
    "other processes", "environment", "files of the host", "write protection",
    "privileges", "user namespaces", "system calls", "process limit", "memory limit",
    "processor time", "freezing", "ending",
}  # fmt: skip


@pytest.mark.sandbox
def test_every_control_is_tried_and_held_at_level_full(full) -> None:
    report = probe()

    assert {control.name for control in report.controls} == CONTROLS
    assert [control for control in report.controls if not control.held] == []
    assert report.level == "full"


class EndsEarlyOnce:
    """A sandbox whose first bot ends after the first attempt."""

    def __init__(self, sandbox: Sandbox, line: str) -> None:
        self._sandbox = sandbox
        self._lines = [line]
        self.level = sandbox.level

    def start(self, program: Program, limits: Limits) -> Running:
        if self._lines:
            argv = ("/usr/bin/printf", "%s\\n", self._lines.pop())
            program = Program(probing.FILES, "bot.py", "executable", argv)
        return self._sandbox.start(program, limits)

    def close(self) -> None:
        """Leave the sandbox open, because other tests use it."""


@pytest.mark.sandbox
def test_attempts_that_do_not_end_are_made_once_more(full: Sandbox) -> None:
    first = json.dumps({"name": "network", "held": False, "how": "of the first bot"})

    controls = probing.try_controls(EndsEarlyOnce(full, first))

    assert {control.name for control in controls} < CONTROLS
    assert [control for control in controls if not control.held] == []


def test_the_exit_code_says_whether_the_configured_level_is_reached(
    monkeypatch,
) -> None:
    levels = ["none", "reduced", "full"]
    codes = []
    for level in levels:
        monkeypatch.setenv("TORRES_SANDBOX", level)
        result = CliRunner().invoke(doctor, ["--json"])
        report = json.loads(result.stdout)
        assert result.exit_code == (not report["enough"])
        codes.append(result.exit_code)

    assert codes == sorted(codes)
    assert codes[0] == 0


def test_an_unknown_level_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("TORRES_SANDBOX", "thick")

    result = CliRunner().invoke(doctor)

    assert result.exit_code == 2
    assert "'thick'" in result.output


def test_the_level_is_the_best_that_the_controls_allow() -> None:
    def held(**names: bool) -> tuple[Control, ...]:
        return tuple(
            Control(name.replace("_", " "), held=ok, how="")
            for name, ok in names.items()
        )

    assert _level(held(network=True, freezing=True)) == "full"
    assert _level(held(network=True, freezing=False, memory_limit=False)) == "reduced"
    assert _level(held(own_namespaces=False, bwrap=False)) == "reduced"
    assert _level(held(network=False, freezing=True)) == "none"


def test_a_missing_control_is_named_with_its_cure() -> None:
    network = Control("network", held=False, how="connected", cure="do this")

    assert SandboxReport("none", (network,)).reasons() == "network: connected (do this)"


OTHER_UID = "60899"
"""Not a user of test_reduced.py, whose fork bombs would use up its processes."""
HIDE = "test ! -e /usr/bin/bwrap || mount --bind /dev/null /usr/bin/bwrap"
NO_BWRAP = ("unshare", "--mount", "sh", "-c", f'{{ {HIDE}; }} && exec "$@"', "sh")


def run_as_other_user(
    code: str, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run Python code as a user who owns nothing here and has no control groups."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    path = [p for p in sys.path if p.startswith("/") and os.access(p, os.X_OK)]
    argv = [
        *prefix,
        *(
            "setpriv",
            "--reuid",
            OTHER_UID,
            "--regid",
            OTHER_UID,
            "--clear-groups",
            "--",
        ),
        *("/usr/bin/python3", "-B", "-c", code),
    ]
    env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTHONPATH": ":".join(path)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


def test_an_ordinary_user_reaches_level_reduced_and_reads_why_not_full() -> None:
    done = run_as_other_user("from torres.cli.doctor import doctor; doctor(['--json'])")
    if "Permission denied" in done.stderr or "ModuleNotFoundError" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")
    report = json.loads(done.stdout)

    missing = {c["name"]: c["cure"] for c in report["controls"] if not c["held"]}
    assert report["level"] == "reduced", report
    assert set(missing) <= {"control groups", "memory limit"}
    assert all("Delegate=yes" in cure for cure in missing.values())
    assert done.returncode == 1


def test_without_bubblewrap_landlock_reaches_level_reduced() -> None:
    if landlock_version() < MIN_VERSION_SHARED_UID:
        pytest.skip("this kernel has no Landlock of version 6 (Linux 6.12)")
    done = run_as_other_user(
        "from torres.cli.doctor import doctor; doctor(['--json'])", NO_BWRAP
    )
    if "Permission denied" in done.stderr or "ModuleNotFoundError" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")
    report = json.loads(done.stdout)

    missing = {c["name"]: c["how"] for c in report["controls"] if not c["held"]}
    assert report["level"] == "reduced", report
    assert "Landlock" in missing["own namespaces"]
    assert set(missing) <= {"bwrap", "own namespaces", "control groups", "memory limit"}
    assert missing["memory limit"].startswith("each process is limited")


def test_a_level_that_is_not_reached_is_refused_with_the_reason() -> None:
    done = run_as_other_user(
        "from torres.runner.sandbox import open_sandbox\n"
        "try: open_sandbox('full')\n"
        "except Exception as why: print(type(why).__name__, why)"
    )
    if "Permission denied" in done.stderr or "ModuleNotFoundError" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")

    assert done.stdout.startswith(f"{SandboxUnavailable.__name__} The sandbox reaches")
    assert "control groups" in done.stdout


def test_level_none_needs_nothing() -> None:
    assert open_sandbox("none").level == "none"
