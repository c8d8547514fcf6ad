"""The versions of the compilers and interpreters on this machine."""

import subprocess
from collections.abc import Iterable

_VERSION_COMMANDS = {
    "python": ("/usr/bin/python3", "--version"),
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
