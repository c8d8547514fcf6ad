"""No pinned package has a known hole, and Python has none where that is required."""

import importlib.util
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SPEC = importlib.util.spec_from_file_location("known_holes", DEPLOY / "known_holes.py")
known_holes = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(known_holes)


def test_no_pinned_package_has_a_known_hole() -> None:
    assert list(known_holes.package_findings()) == []


@pytest.mark.filterwarnings("default::UserWarning")
def test_this_python_has_no_known_hole() -> None:
    findings = list(known_holes.python_findings())
    if known_holes.python_must_be_safe():
        assert findings == []
    for finding in findings:
        warnings.warn(finding, UserWarning, stacklevel=1)


@pytest.mark.parametrize(
    ("version", "open_hole"),
    [
        ("3.7.17", True),
        ("3.11.7", True),
        ("3.11.9", True),
        ("3.11.10", False),
        ("3.12.5", True),
        ("3.12.6", False),
        ("3.13.0", False),
        ("4.0.0", False),
    ],
)
def test_a_version_is_compared_with_the_fix_of_its_series(version, open_hole) -> None:
    fixed = ["3.8.20", "3.9.20", "3.10.15", "3.11.10", "3.12.6"]

    assert known_holes.has_hole(version, fixed) is open_hole


@pytest.mark.parametrize(("version", "open_hole"), [("3.0.0", True), ("3.0.10", False)])
def test_a_package_with_one_fix_is_compared_with_it(version, open_hole) -> None:
    assert known_holes.has_hole(version, ["3.0.1"]) is open_hole


def test_a_pinned_package_with_a_hole_is_found(monkeypatch) -> None:
    monkeypatch.setattr(known_holes, "pins", lambda: {"h11": "0.14.0", "idna": "3.7"})

    (finding,) = known_holes.package_findings()

    assert "h11 0.14.0 has CVE-2025-43859" in finding
    assert "Pin 0.16.0 or newer in constraints.txt" in finding


@pytest.mark.skipif(not shutil.which("dpkg"), reason="dpkg compares the revisions")
@pytest.mark.parametrize(
    ("revision", "findings"), [("3.11.2-6+deb12u2", 1), ("3.11.2-6+deb12u10", 0)]
)
def test_the_python_of_debian_is_judged_by_its_revision(
    monkeypatch, revision, findings
) -> None:
    monkeypatch.setattr(known_holes, "debian_revision", lambda package: revision)

    assert len(list(known_holes.python_findings("3.11.2"))) == findings


def test_each_hole_names_its_source_and_a_package_that_we_use() -> None:
    used = known_holes.pins().keys() | {"python"}
    for hole in known_holes.read_holes():
        assert hole.package.lower() in used
        assert hole.source.startswith("https://")


@pytest.mark.parametrize("required", ["0", "1"])
def test_the_script_fails_for_python_only_where_it_must_be_safe(required) -> None:
    done = subprocess.run(
        [sys.executable, DEPLOY / "known_holes.py"],
        env=os.environ | {"TORRES_REQUIRE_SAFE_PYTHON": required},
        capture_output=True,
        text=True,
        check=False,
    )

    unsafe = bool(list(known_holes.python_findings()))
    assert done.returncode == int(unsafe and required == "1"), done.stderr
    assert bool(done.stderr) is unsafe


def test_the_image_requires_a_safe_python() -> None:
    text = (DEPLOY / "Dockerfile").read_text()

    assert "TORRES_REQUIRE_SAFE_PYTHON=1 python3 deploy/known_holes.py" in text
