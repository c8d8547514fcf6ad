"""Write the tutorial as a notebook of Jupyter: `deploy/tutorial_notebook.py FILE`.

Each command of docs/tutorial.md and each file that one saves there becomes a cell. What
needs a ladder stays text, from `torres login` on.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/tutorial.md"
SAVE = "Save this as `"
LINK = re.compile(r"\]\(([\w-]+)\.md")
NEEDS_A_LADDER = "torres login"
FIRST_CELL = """\
# `torres` stands beside the Python of this notebook.
import os, pathlib, sys

beside = pathlib.Path(sys.executable).parent
os.environ["PATH"] = f"{beside}{os.pathsep}{os.environ['PATH']}"
"""


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / "build/tutorial.ipynb")
    write(target)
    print(target)


def write(target: Path) -> None:
    """Write the notebook, in version 4.5 of its format."""
    target.parent.mkdir(parents=True, exist_ok=True)
    cells = [cell("code", FIRST_CELL), *cells_of(PAGE.read_text())]
    for number, each in enumerate(cells):
        each["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "cells": cells,
    }
    target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def cells_of(text: str) -> list[dict[str, Any]]:
    """Return the cells of a page: its text, and its blocks of code between them."""
    lines = text.splitlines(keepends=True)
    cells, written, file = [], 0, ""
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "inline" and SAVE in token.content:
            file = token.content.split(SAVE)[1].split("`")[0]
        if token.type != "fence" or token.map is None:
            continue
        if token.content.startswith(NEEDS_A_LADDER):
            break
        first, end = token.map
        if "".join(lines[written:first]).strip():
            cells.append(prose(lines[written:first]))
        if token.info == "python":
            folder = json.dumps(str(Path(file).parent))
            make = f"pathlib.Path({folder}).mkdir(parents=True, exist_ok=True)"
            cells.append(cell("code", make))
            cells.append(cell("code", f"%%writefile {file}\n{token.content}"))
        else:
            cells.append(cell("code", f"%%bash\nset -e\n{token.content}"))
        written = end
    return [*cells, prose(lines[written:])]


def prose(lines: list[str]) -> dict[str, Any]:
    """Return a cell of text; its links lead to the pages of the site beside it."""
    return cell("markdown", LINK.sub(r"](../\1/index.html", "".join(lines)))


def cell(kind: str, text: str) -> dict[str, Any]:
    """Return one cell, without an id."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.strip()}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


if __name__ == "__main__":
    main()
