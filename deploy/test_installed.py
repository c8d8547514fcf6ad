"""Run the tests of `engine` and `torres` against the compiled wheel of `dist`.

The arguments are options of pytest. The wheel is installed into build/wheel, an
environment that finds the packages of the tests in the environment of this Python. The
tests run in a copy of the repository without the folders `engine` and `torres`, so that
they import what the wheel holds. Tests that read the sources of the repository are left
out.
"""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from try_wheel import run

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build/wheel"
BIN = HOME / "bin"
FOLDERS = ("checking", "cli", "engine", "learning", "runner", "tlog")
READ_THE_SOURCES = (
    "tests/engine/test_compiled.py::test_a_compiled_file_is_not_older_than_its_source",
    "tests/engine/test_install.py",
    "tests/engine/test_rules_coverage.py",
)
WHERE = "import engine; print(engine.compiled, engine.__file__)"


def main() -> None:
    (wheel,) = (ROOT / "dist").glob("*-abi3-*.whl")
    install(wheel)
    with TemporaryDirectory() as name:
        copy = Path(name)
        copy_repository(copy)
        compiled, file = run(copy, BIN / "python", "-c", WHERE).split()
        if compiled != "True" or not Path(file).is_relative_to(HOME):
            sys.exit(f"The tests would not use the compiled wheel, but {file}.")
        print(f"Testing {file} of {wheel.name} …", flush=True)
        paths = [f"tests/{folder}" for folder in FOLDERS]
        left_out = [f"--deselect={path}" for path in READ_THE_SOURCES]
        command = [BIN / "python", "-m", "pytest", *left_out, *sys.argv[1:], *paths]
        sys.exit(subprocess.run(command, cwd=copy, check=False).returncode)


def install(wheel: Path) -> None:
    """Install a wheel without its dependencies, which the tests' environment has."""
    venv.create(HOME, clear=True, symlinks=True)
    packages = next(HOME.glob("lib/python*/site-packages"))
    (packages / "of_the_tests.pth").write_text(sysconfig.get_path("purelib"))
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", BIN / "python")
    subprocess.run((*pip, "install", "--no-deps", wheel), check=True)


def copy_repository(target: Path) -> None:
    """Copy the files that git knows, without the packages that the wheel holds."""
    for name in run(ROOT, "git", "ls-files").splitlines():
        if name.startswith(("engine/", "torres/")):
            continue
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy)


if __name__ == "__main__":
    main()
