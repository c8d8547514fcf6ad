"""Runs a compiler on a system other than Linux: an ordinary program in a copy."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.referee import ServiceFault


def compile_in(
    folder: Path, command: Sequence[str], timeout_s: float
) -> tuple[int, str]:
    """Run a compile command in a folder, and let it write there.

    Return the exit code and the output. ``{out}`` in the command stands for the folder.
    Raises ServiceFault if the compiler is not installed or needs too much time.
    """
    program = shutil.which(command[0])
    if program is None:
        raise ServiceFault(f"{command[0]} is not installed. Install it.")
    arguments = [word.replace("{out}", str(folder)) for word in command[1:]]
    try:
        done = subprocess.run(
            [program, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as why:
        raise ServiceFault(f"{command[0]} needed more than {timeout_s} s.") from why
    return done.returncode, done.stdout.decode("utf-8", "replace")
