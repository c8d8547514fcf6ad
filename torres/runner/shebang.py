"""The first line of a script: which program it names, and whether that can run here.

If the program of a `#!` line is missing, Linux reports that the script itself is not
there. These functions tell the real reason.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ELF_MARK = b"\x7fELF"
_MAX_LINE_BYTES = 256  # Linux reads as much
_ENV = "/usr/bin/env"


@dataclass(frozen=True, slots=True)
class Shebang:
    """A `#!` line: the program that it names, and whether the line ends with CR LF.

    For `#!/usr/bin/env NAME` the program is NAME.
    """

    interpreter: str
    has_carriage_return: bool

    def is_installed(self) -> bool:
        """True if the program is installed on this machine, in /usr/bin if a name."""
        if self.interpreter.startswith("/"):
            return os.access(self.interpreter, os.X_OK)
        return shutil.which(self.interpreter, path="/usr/bin:/bin") is not None


def read_shebang(file: Path) -> Shebang | None:
    """Return the `#!` line of a file; None if it has none."""
    with file.open("rb") as content:
        line = content.readline(_MAX_LINE_BYTES)
    if not line.startswith(b"#!"):
        return None
    has_carriage_return = line.rstrip(b"\n").endswith(b"\r")
    words = line[2:].decode("utf-8", "replace").split()
    if words[:1] == [_ENV]:
        arguments = [word for word in words[1:] if not word.startswith("-")]
        words = arguments or words
    return Shebang(words[0] if words else "", has_carriage_return)


def is_binary(file: Path) -> bool:
    """True if a file is a program of Linux (ELF)."""
    with file.open("rb") as content:
        return content.read(4) == ELF_MARK


def start_problem(file: Path) -> str | None:
    """Return why the system cannot start a script, in one sentence; None if it can."""
    if sys.platform == "win32" or not file.is_file():
        return None
    shebang = read_shebang(file)
    if shebang is None:
        return (
            None
            if is_binary(file)
            else "it is no program of this system and has no #! line"
        )
    if shebang.has_carriage_return:
        return (
            "its #! line ends with a carriage return, as on Windows; save it with the"
            " line ends of Unix"
        )
    if not shebang.is_installed():
        return f"{shebang.interpreter} is not installed here; its #! line names it"
    return None
