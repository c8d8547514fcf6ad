"""Write the pinned versions: locks with hashes, and constraints.txt without them.

Locked versions stay as they are if pyproject.toml allows them; `--upgrade` takes the
newest. No address of a package index is written. uv resolves for all platforms and all
versions of Python at once, and must be installed beside the Python that runs this file.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "deploy/locks"
EXTRAS = {
    "dev": ["--all-extras"],
    "author": [],
    "service": [f"--extra={name}" for name in ("compile", "otel", "s3", "server")],
    "pipeline": ["--extra", "pipeline"],
}
"""The options of uv for each lock. The first lock holds every package of the others."""
HEADER = (
    "# Written by `make lock`. pip install --require-hashes -r deploy/locks/{}.txt\n"
)
CONSTRAINTS = (
    "# The versions that were tested together; pip install -c constraints.txt."
    " Holds no download addresses.\n"
    "# Written by `make lock` from deploy/locks/dev.txt.\n"
)
PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)


def main() -> None:
    for name, options in EXTRAS.items():
        resolve(name, options)
        if name == "dev":
            text = (LOCKS / "dev.txt").read_text()
            pins = [
                f"{package}=={version}\n" for package, version in PINNED.findall(text)
            ]
            (ROOT / "constraints.txt").write_text(CONSTRAINTS + "".join(pins))


def resolve(name: str, options: list[str]) -> None:
    """Let uv write one lock. Versions in the present lock are preferred."""
    target = LOCKS / f"{name}.txt"
    own = [] if name == "dev" else ["--constraint", "constraints.txt"]
    command = [
        str(Path(sys.executable).parent / "uv"),
        *("pip", "compile", "--quiet", "--universal", "--generate-hashes"),
        *("--no-annotate", "--no-header", "--no-emit-package", "torres-ladder"),
        *("--output-file", str(target), *options, *own, *sys.argv[1:]),
        "pyproject.toml",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    target.write_text(
        HEADER.format(name) + target.read_text().removeprefix(HEADER.format(name))
    )


if __name__ == "__main__":
    main()
