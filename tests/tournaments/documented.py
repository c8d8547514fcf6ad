"""docs/tournaments.md, read as a new organiser reads it."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()
EXAMPLES = re.findall(
    r"### Example: [^\n]*\n.*?```toml\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL
)
"""Each whole file with the beginning of its preview."""
FILES = {tomllib.loads(file)["format"]: file for file, _ in EXAMPLES}
STEPS = PAGE.partition("### Your first tournament")[2].partition("### The steps")[0]
SLUG_OF_THE_PAGE = "friday-cup"
ROLE = re.search(r"manage\.py (operator organiser .*)", PAGE)


def lines(title: str) -> list[str]:
    """Return the command lines of one part of the steps, such as "Over REST"."""
    part = STEPS.partition(f"**{title}")[2].partition("\n**")[0]
    blocks = re.findall(r"```\n(.*?)```", part, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def run_over_rest(folder: Path, file: str, server: str, token: str) -> str:
    """Do what the page says about REST with one file; return the tournament's slug."""
    variables = {
        "LADDER": server,
        "TOKEN": token,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    (folder / "cup.toml").write_text(file)
    slug = SLUG_OF_THE_PAGE
    for line in lines("Over REST"):
        output = run(line.replace(SLUG_OF_THE_PAGE, slug), folder, variables)
        if line.endswith("/tournaments/"):
            slug = str(json.loads(output)["slug"])
    return slug


def run(line: str, folder: Path, variables: dict[str, str]) -> str:
    """Run one command line; an HTTP status of 400 or more is a failure."""
    strict = line.replace("curl ", "curl --silent --show-error --fail-with-body ")
    done = subprocess.run(
        ["bash", "-c", strict],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return done.stdout


def management(line: str) -> list[str]:
    """Return the words of a command line of `manage.py`."""
    return shlex.split(line)[2:]


def entries(file: str) -> dict[str, str]:
    """Return what a person writes into the form, by the keys that the form shows.

    The rules are those of the page: no quotes and brackets, and the lines of the
    switches as they are. An empty text is a box without a tick.
    """
    written: dict[str, str] = {}
    table = ""
    for line in filter(None, file.splitlines()):
        if line.startswith("["):
            table = line.strip("[]")
        elif table == "switches":
            written[table] = f"{written.get(table, '')}{line}\n"
        else:
            key, value = line.split(" = ", 1)
            plain = value.strip("[]").replace('"', "")
            written[key] = {"true": "on", "false": ""}.get(plain, plain)
    return written
