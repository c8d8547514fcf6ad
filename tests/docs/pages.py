"""Pages whose steps build on each other, followed as a reader follows them."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES_FOLLOWED = {name: ROOT / f"docs/{name}.md" for name in ("tutorial", "training")}
SAVE = "Save this as `"


def steps(page: Path) -> list[tuple[str, str]]:
    """Return the steps of a page: ("file name", content) and ("", command line)."""
    result = []
    saved_as = ""
    for token in MarkdownIt().parse(page.read_text()):
        if token.type == "inline" and SAVE in token.content:
            saved_as = token.content.split(SAVE)[1].split("`")[0]
        if token.type == "fence" and token.info == "python":
            result.append((saved_as, token.content))
        elif token.type == "fence":
            result += [("", line) for line in token.content.splitlines()]
    return result


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in a folder with a state of its own; it has to succeed."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (text, done.stdout, done.stderr)
    return done


def follow(page: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Do the steps of a page up to its login; yield each command with its output.

    tests/cli/test_remote.py follows an upload.
    """
    for file, text in steps(page):
        if file:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif shlex.split(text)[:2] == ["torres", "login"]:
            return
        else:
            yield text, run(text, folder).stdout
