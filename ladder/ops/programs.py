"""Find the programs of PostgreSQL and Redis on this host."""

import shutil
from pathlib import Path


class ProgramMissing(Exception):
    """A program that is needed is not installed; the message names it."""


def find_program(program: str) -> str:
    """Return the path of a program.

    Debian installs PostgreSQL's server programs outside PATH, so this also looks in
    /usr/lib/postgresql/*/bin. Raises ProgramMissing.
    """
    debian = map(str, Path("/usr/lib/postgresql").glob("*/bin"))
    for folder in (None, *sorted(debian)):
        if path := shutil.which(program, path=folder):
            return path
    raise ProgramMissing(f"{program} is not installed. Install it and try again.")
