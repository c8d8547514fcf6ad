"""Build the source archive and both wheels into dist/ and check them.

Two builds of the same sources give the same bytes: the times in the archives are
SOURCE_DATE_EPOCH, or the time of the last commit, and owners and modes are fixed. Only
files that git knows go in. SHA256SUMS has the hashes, for `sha256sum --check`. The
packages of the extra `release` build and check; they must be installed in the Python
that runs this file.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.umask(0o022)
    os.environ.setdefault(
        "SOURCE_DATE_EPOCH", output("git", "log", "-1", "--format=%ct")
    )
    with TemporaryDirectory() as name:
        sources = Path(name) / "sources"
        copy_sources(sources)
        build("--sdist", sources, folder)
        (archive,) = folder.glob("*.tar.gz")
        normalise(archive, int(os.environ["SOURCE_DATE_EPOCH"]))
        # The wheels are made from the archive, so that it is known to be complete.
        shutil.unpack_archive(archive, name, filter="data")
        unpacked = Path(name) / archive.name.removesuffix(".tar.gz")
        build("--wheel", unpacked, folder)
        os.environ["TORRES_PURE"] = "1"
        build("--wheel", unpacked, folder)
    check(folder)
    built = sorted(folder.iterdir())
    for path in built:
        print(f"{path.stat().st_size:>10,} bytes  {path.name}")
    sums = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in built]
    (folder / "SHA256SUMS").write_text("".join(sums))


def output(*command: str) -> str:
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def copy_sources(target: Path) -> None:
    """Copy the files that git knows, as they are in the working tree."""
    for name in output("git", "ls-files").splitlines():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)


def build(kind: str, sources: Path, folder: Path) -> None:
    command = (sys.executable, "-m", "build", "--no-isolation", kind)
    subprocess.run((*command, "--outdir", folder, sources), check=True)


def normalise(archive: Path, seconds: int) -> None:
    """Write a source archive again with one time, one owner and sorted names."""
    rewritten = archive.with_suffix(".new")
    with (
        tarfile.open(archive) as old,
        rewritten.open("wb") as file,
        gzip.GzipFile("", "wb", mtime=seconds, fileobj=file) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for entry in sorted(old.getmembers(), key=lambda entry: entry.name):
            entry.mtime = seconds
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.isdir() else 0o644
            entry.pax_headers = {}
            new.addfile(entry, old.extractfile(entry))
    rewritten.replace(archive)


def check(folder: Path) -> None:
    """Run the checks of packaging on everything that was built."""
    wheels = sorted(folder.glob("*.whl"))
    compiled = [wheel for wheel in wheels if "abi3" in wheel.name]
    if not compiled:
        sys.exit(
            "The engine was not compiled. Install a C compiler and Python's headers."
        )
    commands = [
        (BIN / "twine", "check", "--strict", *sorted(folder.iterdir())),
        (BIN / "check-wheel-contents", *wheels),
        (BIN / "abi3audit", "--strict", *compiled),
    ]
    for command in commands:
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
