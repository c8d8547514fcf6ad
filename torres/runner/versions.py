"""The versions of this installation, and of the formats that it speaks."""

import json
import subprocess
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from engine.replay import VERSION as RULES
from engine.replay_format import FORMAT
from torres.runner.protocol import PROTOCOL

API = "v1"
PACKAGE = "torres-ladder"
UNKNOWN = "unknown"
_GIT_TIMEOUT_S = 5.0
_COMMIT_CHARS = 12


@cache
def versions() -> dict[str, str]:
    """Return the versions of the software, its formats, and the commit it is from.

    The keys are `torres`, `commit`, `rules`, `protocol`, `replay` and `api`. The commit
    is known in a clone, and after an installation from an address of a repository.
    """
    return {
        "torres": distribution(PACKAGE).version,
        "commit": _commit()[:_COMMIT_CHARS],
        "rules": RULES,
        "protocol": PROTOCOL,
        "replay": FORMAT,
        "api": API,
    }


def _commit() -> str:
    # PEP 610: pip writes where it fetched the package.
    origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    fetched = origin.get("vcs_info", {}).get("commit_id")
    if fetched:
        return str(fetched)
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return UNKNOWN
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=_GIT_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN  # there is no git, or the clone belongs to another user
    return done.stdout.strip()
