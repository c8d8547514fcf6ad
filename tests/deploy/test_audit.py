"""The audit of packages names vulnerabilities, and says when it could not look."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SPEC = importlib.util.spec_from_file_location("audit", DEPLOY / "audit.py")
audit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(audit)

SOUND = {"name": "click", "version": "8.5.1", "vulns": []}
UNKNOWN = {"name": "rich", "version": "15.0.0", "skip_reason": "not found"}
HOLE = {"id": "PYSEC-2026-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}


def report(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_a_vulnerable_package_fails_the_audit_and_is_named() -> None:
    bad = {"name": "h11", "version": "1.0", "vulns": [HOLE]}

    sentences, code = audit.judge(report(SOUND, bad, UNKNOWN), "", required=False)

    assert code == 1
    assert "h11 1.0 has PYSEC-2026-1." in sentences[0]
    assert sentences[-1] == "2 of 3 packages were compared."


def test_sound_packages_pass() -> None:
    assert audit.judge(report(SOUND), "", required=True) == (
        ["1 of 1 packages were compared."],
        0,
    )


@pytest.mark.parametrize(("required", "code"), [(False, 0), (True, 1)])
@pytest.mark.parametrize("answer", ["", report(UNKNOWN)])
def test_an_audit_without_answers_is_skipped_unless_it_is_required(
    answer: str, *, required: bool, code: int
) -> None:
    sentences, exit_code = audit.judge(answer, "x\nProxyError", required=required)

    assert exit_code == code
    assert sentences[0].startswith("Skipped: the database of vulnerabilities gave no")


@pytest.mark.parametrize(("option", "code"), [("", 0), ("--require", 1)])
def test_the_step_is_skipped_with_a_reason_without_a_network(
    option: str, code: int
) -> None:
    nowhere = dict.fromkeys(
        ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"
    )

    done = subprocess.run(
        [sys.executable, DEPLOY / "audit.py", *filter(None, [option])],
        env=os.environ | nowhere | {"NO_PROXY": "", "UV_HTTP_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert "Skipped:" in done.stdout + done.stderr
