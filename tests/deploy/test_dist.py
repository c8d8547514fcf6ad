"""A release is built twice with the same bytes, and its archives are complete."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import venv
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine.build import MODULES

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "docs" / "install.md"
pytestmark = pytest.mark.deep
MAX_INSTALLED_BYTES = 45 << 20
DISTRIBUTIONS = "venv/lib/python*/site-packages/*.dist-info"
# An optimisation takes a minute, and whether it is deterministic is up to the compiler.
FIXED = {"SOURCE_DATE_EPOCH": "1800000000", "CFLAGS": "-O0 -g0"}
# The second build has another time zone, other rights, and another order of sets.
SURROUNDINGS = [
    {"TZ": "UTC", "PYTHONHASHSEED": "1"},
    {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2"},
]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the folders of two builds of the same sources."""
    folders = []
    for number, surroundings in enumerate(SURROUNDINGS):
        folder = tmp_path_factory.mktemp("build") / "dist"
        done = subprocess.run(
            [sys.executable, ROOT / "deploy/dist.py", folder],
            cwd=folder.parent,
            env=os.environ | surroundings | FIXED,
            umask=0o077 if number else 0o002,
            capture_output=True,
            text=True,
            check=False,
        )
        if "Install a C compiler" in done.stderr:
            assert os.environ.get("TESTS_REQUIRE_ALL") != "1", done.stderr
            pytest.skip("no C compiler is installed")
        assert done.returncode == 0, done.stderr
        folders.append(folder)
    return folders


def test_two_builds_have_the_same_bytes(builds: list[Path]) -> None:
    first, second = (
        {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.iterdir()
        }
        for folder in builds
    )

    assert first == second
    assert len(first) == 4


def test_the_check_of_the_docs_refuses_a_changed_wheel(
    builds: list[Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(builds[0], tmp_path / "dist")
    (wheel,) = folder.glob("*-abi3-*.whl")
    check = ["sha256sum", "--check", "SHA256SUMS"]
    assert "`sha256sum --check SHA256SUMS`" in INSTALL.read_text()

    def checked() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            check, cwd=folder, capture_output=True, text=True, check=False
        )

    assert checked().returncode == 0
    data = bytearray(wheel.read_bytes())
    data[len(data) // 2] ^= 1
    wheel.write_bytes(data)
    assert checked().returncode == 1
    assert f"{wheel.name}: FAILED" in checked().stdout


def test_only_the_compiled_wheel_is_bound_to_a_platform(builds: list[Path]) -> None:
    holds = {}
    for path in builds[0].glob("*.whl"):
        with ZipFile(path) as wheel:
            holds[path.name.split("-", 2)[2]] = {
                name for name in wheel.namelist() if name.endswith((".so", ".pyd"))
            }

    pure = holds.pop("py3-none-any.whl")
    ((tag, compiled),) = holds.items()
    assert pure == set()
    assert tag.startswith("cp311-abi3-")
    assert {Path(name).name.split(".")[0] for name in compiled} == set(MODULES)


def test_the_metadata_of_a_wheel_is_complete(builds: list[Path]) -> None:
    for path in builds[0].glob("*.whl"):
        with ZipFile(path) as wheel:
            names = wheel.namelist()
            (home,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
            metadata = Parser().parsestr(wheel.read(f"{home}/METADATA").decode())

        assert {name.split("/")[0] for name in names} == {"engine", "torres", home}
        assert metadata["License-Expression"] == "MIT"
        assert "Typing :: Typed" in metadata.get_all("Classifier")
        assert {"engine/py.typed", "torres/py.typed"} <= set(names)
        assert f"{home}/licenses/LICENSE" in names


def test_the_compiled_wheel_plays_in_an_empty_environment(
    builds: list[Path], tmp_path: Path
) -> None:
    (wheel,) = builds[0].glob("*-abi3-*.whl")
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    lock = ROOT / "deploy/locks/author.txt"

    for words in (["--require-hashes", "-r", lock], ["--no-deps", wheel]):
        done = subprocess.run(
            [*pip, *words], capture_output=True, text=True, check=False
        )
        if "No matching distribution found for" in done.stderr:
            assert os.environ.get("TESTS_REQUIRE_ALL") != "1", done.stderr
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [python, ROOT / "deploy/try_wheel.py", "--compiled"], env=bare, check=True
    )
    files = [path for path in (tmp_path / "venv/lib").rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{len(list(tmp_path.glob(DISTRIBUTIONS)))} packages, {size / 2**20:.1f} MB")
    assert size <= MAX_INSTALLED_BYTES


def test_uvx_plays_a_first_game(builds: list[Path], tmp_path: Path) -> None:
    """uv has an empty cache, and the packages that pip downloaded before."""
    (wheel,) = builds[0].glob("*-abi3-*.whl")
    lock = ROOT / "deploy/locks/author.txt"
    for words in (["--require-hashes", "-r", lock], ["setuptools"]):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--dest", tmp_path, *words],
            capture_output=True,
            text=True,
            check=False,
        )
        if "No matching distribution found for" in done.stderr:
            assert os.environ.get("TESTS_REQUIRE_ALL") != "1", done.stderr
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
    uvx = [Path(sys.executable).with_name("uvx"), "--python", sys.executable]
    uvx += ["--offline", "--no-index", "--find-links", tmp_path, "--from", wheel]
    started = time.monotonic()

    done = subprocess.run(
        [*uvx, "torres", "play", "house:random", "house:greedy"],
        cwd=tmp_path,
        env=os.environ | {"UV_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout
    print(f"a first game after {time.monotonic() - started:.1f} s")
