"""The `torres` command as a subprocess, as a person runs it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TORRES = Path(sys.executable).with_name("torres")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def torres(tmp_path: Path) -> Run:
    """Return a function that runs `torres` in an empty folder."""

    def run(
        *args: object, timeout: float = 240, cwd: Path = tmp_path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TORRES, *map(str, args)],
            cwd=cwd,
            env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")} | variables,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
