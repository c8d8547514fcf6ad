"""The tutorial as a notebook: valid, and executed cell by cell."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tests.docs.pages import PAGES_FOLLOWED, steps

PROGRAM = Path(__file__).parents[2] / "deploy/tutorial_notebook.py"
CELL_TIMEOUT_S = 1200


@pytest.fixture
def tutorial(tmp_path: Path) -> NotebookNode:
    file = tmp_path / "tutorial.ipynb"
    subprocess.run([sys.executable, PROGRAM, file], check=True)
    return nbformat.read(file, as_version=4)


def execute(cells: NotebookNode, folder: Path) -> str:
    """Execute a notebook in a folder, and return what its commands printed."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(cells, timeout=CELL_TIMEOUT_S, resources=resources)
    client.execute()
    return "".join(
        output.get("text", "")
        for each in cells.cells
        if each.cell_type == "code"
        for output in each.outputs
    )


def test_the_notebook_has_every_step_before_the_upload(tutorial: NotebookNode) -> None:
    nbformat.validate(tutorial)
    code = "\n".join(c.source for c in tutorial.cells if c.cell_type == "code")
    texts = [text.strip() for _, text in steps(PAGES_FOLLOWED["tutorial"])]
    last = next(k for k, text in enumerate(texts) if text.startswith("torres login"))

    assert all(text in code for text in texts[:last])
    assert not any(text in code for text in texts[last:])


@pytest.mark.slow
def test_the_cells_up_to_the_second_bot_are_executed(
    tutorial: NotebookNode, tmp_path: Path
) -> None:
    sources = [each.source for each in tutorial.cells]
    third = next(k for k, text in enumerate(sources) if "bots/third" in text)
    tutorial.cells = tutorial.cells[:third]

    printed = execute(tutorial, tmp_path)

    assert "\nsecond " in printed  # a row of the table of scores
    assert (tmp_path / "bots/second/bot.py").read_text().startswith('"""It looks one')


@pytest.mark.slow
def test_a_command_that_fails_ends_the_notebook(
    tutorial: NotebookNode, tmp_path: Path
) -> None:
    tutorial.cells = [each for each in tutorial.cells if each.cell_type == "code"][:2]
    command = tutorial.cells[1]
    command.source = command.source.replace("check bots/first", "check bots/nowhere")

    with pytest.raises(CellExecutionError, match="bots/nowhere"):
        execute(tutorial, tmp_path)


@pytest.mark.deep
def test_the_whole_notebook_is_executed(tutorial: NotebookNode, tmp_path: Path) -> None:
    printed = execute(tutorial, tmp_path)

    assert "\nthird " in printed
    assert (tmp_path / "game.gif").stat().st_size > 0
