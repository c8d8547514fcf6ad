"""Play and verify a game with the installed package, as its first user would.

Run it with the Python that has the package. With `--compiled` it fails if the engine
runs uncompiled. It needs the standard library only.
"""

import platform
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from tempfile import TemporaryDirectory

SUFFIX = ".exe" if sys.platform == "win32" else ""
TORRES = Path(sysconfig.get_path("scripts")) / f"torres{SUFFIX}"
PLAYED = ("play", "house:random", "house:banker", "--replay", "game.json")
COMPILED = "import engine; print(engine.compiled)"


def main() -> None:
    start = time.monotonic()
    # An empty folder, so that no sources beside it are imported.
    with TemporaryDirectory() as folder:
        compiled = run(folder, sys.executable, "-c", COMPILED) == "True"
        if "--compiled" in sys.argv and not compiled:
            sys.exit("The engine of the installed package is not compiled.")
        run(folder, TORRES, *PLAYED)
        verified = run(folder, TORRES, "verify", "game.json")
        if verified != "game.json: valid":
            sys.exit(f"The replay of the first game is not valid: {verified}")
    kind = "compiled" if compiled else "uncompiled"
    print(
        f"Python {platform.python_version()} on {platform.system()}"
        f" {platform.machine()}: a game with the {kind} engine was played and verified"
        f" in {time.monotonic() - start:.1f} s."
    )


def run(folder: str | Path, *command: object) -> str:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()


if __name__ == "__main__":
    main()
