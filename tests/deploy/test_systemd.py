"""The units of deploy/systemd, as far as they can be tried without systemd as PID 1."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from ladder.common.watchdog import LIMIT_S
from tests.conftest import need_program

UNITS = settings.BASE_DIR / "deploy" / "systemd"
PAGE = (settings.BASE_DIR / "docs" / "operating.md").read_text()
CHECKOUT = "/opt/torres-ladder"
INSTANCES = (
    "torres@serve", "torres@schedule", "torres@monitor", "torres-worker@play",
    "torres-worker@build", "torres-practice",
)  # fmt: skip
MAX_EXPOSURE = 2.0
"""The exposure by `systemd-analyze security`, from 0 to 10, of units without bots."""
EXPOSURE = "Overall exposure level for"


def text_of(instance: str) -> str:
    name, at, _ = instance.partition("@")
    return (UNITS / f"{name}{at}.service").read_text()


def values(instance: str, key: str) -> list[str]:
    lines = [line.split("=", 1) for line in text_of(instance).splitlines()]
    return [line[1] for line in lines if line[0] == key]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with the units of each instance, for this checkout."""
    need_program("systemd-analyze", "systemd")
    for instance in INSTANCES:
        programs = str(Path(sys.executable).parent)
        text = text_of(instance).replace(f"{CHECKOUT}/.venv/bin", programs)
        text = text.replace(CHECKOUT, str(settings.BASE_DIR))
        (tmp_path / f"{instance}.service").write_text(text)
    return tmp_path


def analyze(*words: str) -> str:
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("instance", INSTANCES)
def test_systemd_finds_no_mistake(installed: Path, instance: str) -> None:
    unit = installed / f"{instance}.service"

    assert analyze("verify", "--man=no", str(unit)) == ""

    unit.write_text(unit.read_text().replace("ProtectHome", "ProtectHom"))
    assert "Unknown key" in analyze("verify", "--man=no", str(unit))


@pytest.mark.parametrize("instance", INSTANCES[:3])
def test_what_runs_no_bots_is_confined(installed: Path, instance: str) -> None:
    unit = installed / f"{instance}.service"
    report = analyze("security", "--offline=true", "--no-pager", str(unit))

    (line,) = [line for line in report.splitlines() if EXPOSURE in line]
    assert float(line.split(":")[1].split()[0]) <= MAX_EXPOSURE
    assert instance.partition("@")[2] in get_commands()


def test_workers_and_games_by_hand_have_the_same_limits() -> None:
    sections = [
        text_of(name).partition("# The sandbox makes control")[2]
        for name in ("torres-worker@", "torres-practice")
    ]

    assert sections[0]
    assert sections[0] == sections[1]


@pytest.mark.parametrize("instance", ["torres-worker@", "torres-practice"])
def test_workers_have_no_secret_and_change_no_upload(instance: str) -> None:
    files = values(instance, "EnvironmentFile")

    assert "/etc/torres/worker.env" in files
    assert "/etc/torres/ladder.env" not in files
    assert values(instance, "ReadWritePaths") == ["/sys/fs/cgroup"]
    (uploads,) = values(instance, "BindReadOnlyPaths")
    assert uploads.startswith("/srv/torres/submissions:")
    assert "/srv/torres/log.key" in values(instance, "InaccessiblePaths")[0]


def test_a_worker_has_time_to_release_its_games() -> None:
    assert "REMAP_SIGTERM=SIGQUIT" in values("torres-worker@", "Environment")
    (timeout_s,) = values("torres-worker@", "TimeoutStopSec")
    assert int(timeout_s) > settings.TORRES_GRACE_SECONDS


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_the_sandbox_is_full_with_the_capabilities_of_the_unit() -> None:
    need_program("setpriv", "util-linux")
    (bounding_set,) = values("torres-worker@", "CapabilityBoundingSet")
    dropped = bounding_set.removeprefix("~").replace("CAP_", "-").lower().split()
    assert "-sys_module" in dropped
    limits = ["--no-new-privs", "--bounding-set", ",".join(dropped)]
    doctor = [str(Path(sys.executable).with_name("torres")), "doctor", "--json"]

    done = subprocess.run(
        ["setpriv", *limits, *doctor], capture_output=True, text=True, check=False
    )

    report = json.loads(done.stdout)
    assert report["level"] == "full", report


@pytest.mark.parametrize("instance", INSTANCES)
def test_systemd_ends_a_part_whose_loop_stands_still(instance: str) -> None:
    """Only after the watchdog of the process itself should have done so."""
    (limit_s,) = values(instance, "WatchdogSec")

    assert int(limit_s) > LIMIT_S
    assert values(instance, "Restart") in (["always"], ["on-failure"])


def test_prepare_may_wait_and_needs_no_watchdog(installed: Path) -> None:
    name = "torres@prepare.service"
    unit = installed / name
    unit.write_text((installed / "torres@serve.service").read_text())
    drop_in = installed / f"{name}.d"
    shutil.copytree(UNITS / f"{name}.d", drop_in)

    assert analyze("verify", "--man=no", str(unit)) == ""
    (text,) = [file.read_text() for file in drop_in.iterdir()]
    assert {"Type=oneshot", "WatchdogSec=0"} <= set(text.splitlines())
    assert f"deploy/systemd/{name}.d /etc/systemd/system/" in PAGE


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_page_says_how_to_start_it(instance: str) -> None:
    assert instance in PAGE
