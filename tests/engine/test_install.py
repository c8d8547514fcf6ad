"""Without a compiler the installation succeeds, and the plain source runs."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import engine

ROOT = Path(engine.__file__).parents[1]
GOLDEN = ROOT / "tests" / "engine" / "golden" / "yucata-2.json"
SOURCES = ("pyproject.toml", "README.md", "LICENSE")
PLAY = """
import json, pathlib, sys, engine
from engine.replay import verify
verify(json.loads(pathlib.Path(sys.argv[1]).read_bytes())["replay"])
print(engine.compiled, pathlib.Path(engine.__file__).parent)
"""


@pytest.mark.deep
def test_the_project_installs_without_a_compiler(tmp_path: Path) -> None:
    project = tmp_path / "project"
    home = tmp_path / "venv"
    ignore = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "engine", project / "engine", ignore=ignore)
    for name in SOURCES:
        shutil.copy(ROOT / name, project)
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    bare = os.environ | {"CC": "/nonexistent", "PATH": str(python.parent)}
    bare.pop("PYTHONPATH", None)
    bare.pop("TORRES_PURE", None)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]

    installation = subprocess.run(
        [*pip, "."], cwd=project, env=bare, capture_output=True, text=True, check=False
    )
    if "No matching distribution found for" in installation.stderr:  # offline
        assert os.environ.get("TESTS_REQUIRE_ALL") != "1"
        pytest.skip("no package index can be reached")
    assert installation.returncode == 0, installation.stderr
    game = subprocess.run(
        [python, "-c", PLAY, GOLDEN],
        cwd=tmp_path,
        env=bare,
        capture_output=True,
        text=True,
        check=True,
    )

    compiled, folder = game.stdout.split()
    assert compiled == "False"
    assert Path(folder).is_relative_to(home)
