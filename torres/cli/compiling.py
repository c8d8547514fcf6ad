"""Says how to compile the engine on this system, for a person whose engine is not."""

import os
import sys
from pathlib import Path

_CURES = {
    "linux": "install a C compiler and Python's headers (apt-get install gcc"
    " python3-dev)",
    "darwin": "install a C compiler (xcode-select --install)",
    "win32": "install the Build Tools for Visual Studio",
}
_ROOT = Path(__file__).parents[2]


def compile_advice() -> str:
    """Return that the engine is not compiled, what it costs, and the cure."""
    if os.environ.get("TORRES_PURE") == "1":
        return "not compiled, because TORRES_PURE is 1; unset that variable"
    install = "pip install --force-reinstall --no-deps torres-ladder"
    if (_ROOT / "Makefile").is_file():
        install = "make install"
    cure = _CURES.get(sys.platform, "install a C compiler")
    return (
        "not compiled, so games take several times as long, and searches up to 60"
        f" times; {cure}, then run {install}"
    )
