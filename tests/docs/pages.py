"""The pages of this repository: their files, names and links, and steps to follow."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urldefrag

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES_FOLLOWED = {
    name: ROOT / f"docs/{name}.md" for name in ("packages", "training", "tutorial")
}
SAVE = "Save this as `"
PARSER = MarkdownIt("commonmark").enable("table")


def files(*suffixes: str) -> list[Path]:
    """Return the files of the repository that end with one of these suffixes."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = [ROOT / name for name in listed]
    return [path for path in paths if path.suffix in suffixes and path.is_file()]


def codes(tokens: Iterable[Token]) -> list[str]:
    """Return the texts in backquotes, without blocks of code."""
    children = [child for token in tokens for child in token.children or ()]
    return [child.content for child in children if child.type == "code_inline"]


def links(tokens: Iterable[Token]) -> list[str]:
    """Return the addresses of all links, without fragments."""
    children = [child for token in tokens for child in token.children or ()]
    found = [str(child.attrs["href"]) for child in children if "href" in child.attrs]
    return [urldefrag(address).url for address in found]


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
