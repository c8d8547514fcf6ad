"""The bill of materials names every package and every file of an installation."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of the present sources, without the compiled engine."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "sources"
    for name in ("engine", "torres"):
        listed = subprocess.run(
            ["git", "ls-files", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for path in listed.stdout.splitlines():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes((ROOT / path).read_bytes())
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel"]
    subprocess.run(
        [*build, "--outdir", folder, copy],
        env=os.environ | {"TORRES_PURE": "1"},
        capture_output=True,
        check=True,
    )
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def documents(wheel: Path) -> list[bytes]:
    """Return two documents of the same wheel."""
    found = []
    for number in range(2):
        output = wheel.parent / f"{number}.json"
        done = subprocess.run(
            [sys.executable, ROOT / "deploy/sbom.py", wheel, output],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and re.search(r"dns error|connect|No solution", done.stderr):
            assert os.environ.get("TESTS_REQUIRE_ALL") != "1", done.stderr
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
        found.append(output.read_bytes())
    return found


def test_the_same_wheel_gives_the_same_document(documents: list[bytes]) -> None:
    assert documents[0] == documents[1]
    assert b"/tmp" not in documents[0]


def test_each_package_has_a_licence_and_is_locked(documents: list[bytes]) -> None:
    document = json.loads(documents[0])
    lock = (ROOT / "deploy/locks/author.txt").read_text()
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.MULTILINE))

    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "torres-ladder"
    found = {
        re.sub("[._]", "-", part["name"]).lower(): part["version"]
        for part in document["components"]
    }
    assert found.items() <= locked.items()
    assert {"httpx", "msgspec", "rich"} <= found.keys()
    assert [
        part["name"] for part in document["components"] if not part["licenses"]
    ] == []


def test_each_file_of_the_wheel_stands_with_its_hash(
    documents: list[bytes], wheel: Path
) -> None:
    project = json.loads(documents[0])["metadata"]["component"]
    listed = {
        part["name"]: part["hashes"][0]["content"] for part in project["components"]
    }
    with ZipFile(wheel) as archive:
        inside = {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if not name.endswith("/RECORD")
        }

    assert inside.items() <= listed.items()
    assert "engine/kernel.py" in inside
