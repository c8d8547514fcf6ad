"""Compare the locked packages with the index's list of known vulnerabilities.

pip-audit asks the index about each package of deploy/locks/dev.txt. Where its database
cannot be reached, the step is skipped with the reason, or fails with `--require`. The
exit code is 1 if a package has a vulnerability.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = "deploy/locks/dev.txt"
PIP_AUDIT = ("tool", "run", "--constraints", "constraints.txt", "pip-audit")
OPTIONS = ("--require-hashes", "--disable-pip", "--format", "json")


def main() -> int:
    done = subprocess.run(
        [Path(sys.executable).parent / "uv", *PIP_AUDIT, "-r", LOCK, *OPTIONS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    sentences, code = judge(done.stdout, done.stderr, required="--require" in sys.argv)
    print("\n".join(sentences), file=sys.stderr if code else sys.stdout)
    return code


def judge(report: str, errors: str, *, required: bool) -> tuple[list[str], int]:
    """Return the sentences to print, and the exit code, for a report of pip-audit.

    An index without the database answers that it knows no package; pip-audit then finds
    nothing and ends well. Such an answer counts as no answer.
    """
    packages = json.loads(report)["dependencies"] if report.strip() else []
    asked = [package for package in packages if "skip_reason" not in package]
    if not asked:
        reason = "the index knows no package"
        if not packages and errors.strip():
            reason = errors.strip().splitlines()[-1]
        return [
            f"Skipped: the database of vulnerabilities gave no answer ({reason})."
        ], (1 if required else 0)
    found = [sentence for package in asked for sentence in _findings(package)]
    summary = f"{len(asked)} of {len(packages)} packages were compared."
    return [*found, summary], 1 if found else 0


def _findings(package: dict[str, Any]) -> list[str]:
    return [
        f"{package['name']} {package['version']} has {hole['id']}. "
        + _cure(hole["fix_versions"])
        for hole in package["vulns"]
    ]


def _cure(versions: list[str]) -> str:
    if not versions:
        return "No version without it is known."
    return f"Raise it in pyproject.toml to {' or '.join(versions)}, and run make lock."


if __name__ == "__main__":
    sys.exit(main())
