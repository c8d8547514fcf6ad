"""The versions of the compilers and interpreters on this machine."""

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache

SERVERS_PYTHON = "/usr/bin/python3"
"""The Python that runs bots on a server."""
PythonVersion = tuple[int, int]
"""Major and minor number, as in (3, 11)."""
OLDEST_PYTHON: PythonVersion = (3, 11)
_VERSION_COMMANDS = {
    "python": (SERVERS_PYTHON, "--version"),
    "javascript": ("/usr/bin/node", "--version"),
    "typescript": ("/usr/bin/esbuild", "--version"),
    "c": ("/usr/bin/gcc", "--version"),
    "cpp": ("/usr/bin/g++", "--version"),
    "rust": ("/usr/bin/rustc", "--version"),
    "go": ("/usr/bin/go", "version"),
    "java": ("/usr/bin/java", "--version"),
}
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}
_TIMEOUT_S = 30
_MAX_CHARS = 100


def tool_versions(languages: Iterable[str]) -> dict[str, str]:
    """Return the first line that the tool of each language says about its version.

    A language without a tool, or whose tool does not answer, is left out.
    """
    lines = {name: _first_line(_VERSION_COMMANDS.get(name, ())) for name in languages}
    return {name: line for name, line in lines.items() if line}


def python_number(version_line: str) -> PythonVersion | None:
    """Return the number in a line such as "Python 3.11.2"; None if there is none."""
    found = re.search(r"\b(\d{1,2})\.(\d{1,3})\b", version_line)
    return (int(found[1]), int(found[2])) if found else None


@cache
def python_here() -> str:
    """Return the Python of a server if it is here and new enough; otherwise our own."""
    version = _servers_python()
    return SERVERS_PYTHON if version and version >= OLDEST_PYTHON else sys.executable


def version_here() -> PythonVersion:
    """Return the version of the Python that runs bots on this machine."""
    own = sys.version_info[:2]
    return (_servers_python() or own) if python_here() == SERVERS_PYTHON else own


@cache
def _servers_python() -> PythonVersion | None:
    return python_number(_first_line(_VERSION_COMMANDS["python"]))


def _first_line(command: tuple[str, ...]) -> str:
    if not command:
        return ""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=_ENVIRONMENT,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    line = done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
    return line[:_MAX_CHARS]
