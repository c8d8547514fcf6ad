"""Write the bill of materials of a wheel and all that comes with it (CycloneDX, JSON).

The wheel and the packages of deploy/locks/author.txt are installed into an empty
environment, by their hashes. The document names each package with its licence and its
dependencies, and each installed file under its package with its SHA-256. The same
wheel gives the same document.
"""

import base64
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
DEFAULT_OUTPUT = ROOT / "build/torres-ladder.cdx.json"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("Name a wheel: deploy/sbom.py WHEEL [OUTPUT]. `make dist` builds one.")
    wheel = Path(sys.argv[1]).resolve()
    output = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else DEFAULT_OUTPUT
    with TemporaryDirectory() as name:
        home = Path(name) / "venv"
        install(wheel, home)
        document = describe(home)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    files = sum(len(part["components"]) for part in parts(document))
    print(f"{output}: {len(parts(document))} packages, {files} files")


def install(wheel: Path, home: Path) -> None:
    """Make an environment of the locked packages and the wheel."""
    uv = [BIN / "uv", "--quiet"]
    pip = [*uv, "pip", "install", "--python", home / "bin/python"]
    lock = ROOT / "deploy/locks/author.txt"
    for command in (
        [*uv, "venv", "--python", sys.executable, home],
        [*pip, "--require-hashes", "-r", lock],
        [*pip, "--no-deps", wheel],
    ):
        subprocess.run(command, check=True)


def describe(home: Path) -> dict[str, Any]:
    """Return the document of an environment, with the files of each package."""
    command = [BIN / "cyclonedx-py", "environment", "--output-reproducible"]
    done = subprocess.run(
        [*command, "--pyproject", ROOT / "pyproject.toml", home / "bin/python"],
        stdout=subprocess.PIPE,
        check=True,
    )
    document: dict[str, Any] = json.loads(done.stdout)
    files = dict(installed(home))
    for part in parts(document):
        part["components"] = files[folded(part["name"])]
    return document


def parts(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the project and the packages that it needs."""
    return [document["metadata"]["component"], *document["components"]]


def installed(home: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each installed package with its files and their SHA-256 in hexadecimal."""
    for record in sorted(home.glob("lib/python*/site-packages/*.dist-info/RECORD")):
        with record.open(newline="") as lines:
            rows = sorted(row[:2] for row in csv.reader(lines) if row[1])
        yield (
            folded(record.parent.name.split("-")[0]),
            [
                {
                    "type": "file",
                    "name": path,
                    "hashes": [{"alg": "SHA-256", "content": in_hex(value)}],
                }
                for path, value in rows
                # Written by the installer, and different at each place.
                if not path.startswith("../") and ".dist-info/direct_url" not in path
            ],
        )


def folded(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def in_hex(value: str) -> str:
    """Return the digest of a line in a RECORD (sha256= and base64)."""
    digest = value.partition("=")[2]
    return base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()


if __name__ == "__main__":
    main()
