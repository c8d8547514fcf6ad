"""`torres vendor` brings packages into a bot's folder, and trusts none of them.

pip is real. Its index is a folder of wheels that the test wrote, which may be hostile.
"""

import hashlib
import stat
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest
from click import ClickException
from click.testing import CliRunner

from tests.cli.conftest import Run
from tests.cli.test_hostile_ladder import server
from torres.checking.packages import LOCK, package_findings
from torres.cli.main import torres as torres_command
from torres.cli.wheels import check_new_files, remove_packages
from torres.runner.tool_versions import version_here
from torres.upload.checks import BadArchive

__all__ = ["server"]

HERE = "{}.{}".format(*version_here())


class Index:
    """A folder of wheels, and the bot that wants them."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        self.bot = folder / "bot"
        self.bot.mkdir()
        (self.bot / "bot.py").write_text("import one\n")
        self._run = run

    def add(
        self,
        name: str,
        files: dict[str, str] | None = None,
        *,
        tag: str = "py3-none-any",
        links: dict[str, str] | None = None,
        needs: str = "",
    ) -> Path:
        """Write a wheel with these files, and with links to other paths."""
        wheel = self.wheels / f"{name}-1.0-{tag}.whl"
        home = f"{name}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        if needs:
            metadata += f"Requires-Dist: {needs}\n"
        content = (files or {f"{name}/__init__.py": ""}) | {
            f"{home}/METADATA": metadata,
            f"{home}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        }
        rows = [*content, *(links or {}), f"{home}/RECORD"]
        content[f"{home}/RECORD"] = "".join(f"{row},,\n" for row in rows)
        with ZipFile(wheel, "w") as packed:
            for path, text in content.items():
                packed.writestr(path, text)
            for path, to in (links or {}).items():
                link = ZipInfo(path)
                link.external_attr = (stat.S_IFLNK | 0o777) << 16
                packed.writestr(link, to)
        return wheel

    def vendor(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Run the command for the bot; return its exit code and its last error line."""
        done = self._run(
            *("vendor", "--into", self.bot, *arguments),
            PIP_NO_INDEX="1",
            PIP_FIND_LINKS=str(self.wheels),
            XDG_CONFIG_HOME=str(self.bot.parent / "config"),
            **variables,
        )
        return done.returncode, done.stderr.splitlines()[-1]

    def files(self) -> dict[str, bytes]:
        """Return the files of the bot's folder, also the hidden ones."""
        return {
            path.relative_to(self.bot).as_posix(): path.read_bytes()
            for path in self.bot.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def index(tmp_path: Path, torres: Run) -> Index:
    return Index(tmp_path, torres)


@pytest.mark.slow
def test_the_same_files_come_again_from_the_lock(index: Index) -> None:
    wheel = index.add(
        "one",
        {
            "one/__init__.py": "",
            "one/fast.so": "",
            "one/fast.c": "",
            "one/py.pyi": "",
            "one/tests/test_it.py": "",
            "one.pth": "import evil",
            "one-1.0.data/scripts/one-tool": "#!python\n",
        },
        needs="two",
    )
    index.add("two")

    code, last = index.vendor("one")

    assert code == 0
    assert "An upload of" in last
    first = index.files()
    assert {name for name in first if ".dist-info" not in name} == {
        *("bot.py", LOCK, "one/__init__.py", "one/fast.so", "two/__init__.py")
    }
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert f"one==1.0 --hash=sha256:{digest}\n" in first[LOCK].decode()

    (index.bot / "one/fast.so").write_text("changed")
    (index.bot / "one/__pycache__").mkdir()
    (index.bot / "one/__pycache__/x.pyc").touch()
    assert index.vendor()[0] == 0
    assert index.files() == first

    index.add("one", {"one/__init__.py": "other"})
    code, last = index.vendor()
    assert (code, index.files()) == (1, first)
    assert "pip could not fetch the packages" in last


@pytest.mark.slow
def test_the_folder_holds_the_named_packages_and_no_others(index: Index) -> None:
    index.add("one")
    index.add("two")
    (index.bot / "own").mkdir()
    (index.bot / "own/__init__.py").touch()
    index.vendor("one")

    assert index.vendor("two")[0] == 0

    names = {name.split("/")[0] for name in index.files()}
    assert names == {"bot.py", "own", "two", "two-1.0.dist-info", LOCK}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("engine/__init__.py", "brings engine, which would replace a module"),
        ("json.py", "brings json.py, which would replace a module"),
        ("bot.py", "brings bot.py, which would replace a module"),
        ("random.abi3.so", "brings random.abi3.so, which would replace a module"),
        ("own/extra.py", "the folder has own/__init__.py already"),
        ("linked/extra.py", "the folder has linked already"),
        ("one/a:b.py", "is not a relative path"),
        (f"one/{'a/' * 30}b.py", "too deep"),
    ],
)
def test_a_package_replaces_nothing(tmp_path: Path, name: str, why: str) -> None:
    bot = tmp_path / "bot"
    (bot / "own").mkdir(parents=True)
    (bot / "own/__init__.py").touch()
    (bot / "linked").symlink_to(tmp_path)
    new = tmp_path / "site" / name
    new.parent.mkdir(parents=True)
    new.touch()

    with pytest.raises((ClickException, BadArchive), match=why):
        check_new_files(tmp_path / "site", bot)


def test_an_upload_that_a_ladder_refuses_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "site/one").mkdir(parents=True)
    (tmp_path / "bot").mkdir()
    for number in range(10_001):
        (tmp_path / f"site/one/{number}.py").touch()

    with pytest.raises(BadArchive, match="the limit is 10,000"):
        check_new_files(tmp_path / "site", tmp_path / "bot")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("engine/__init__.py", "would replace a module"),
        ("../outside.py", "pip could not fetch the packages"),
    ],
)
def test_a_hostile_wheel_changes_nothing(index: Index, file: str, why: str) -> None:
    index.add("one", {"one/__init__.py": "", file: ""})

    code, last = index.vendor("one")

    assert code == 1
    assert why in last
    assert set(index.files()) == {"bot.py"}
    assert [each.name for each in index.bot.iterdir()] == ["bot.py"]
    assert not list(index.bot.parent.rglob("outside.py"))


@pytest.mark.slow
def test_a_wheel_brings_no_links(index: Index) -> None:
    index.add("one", links={"one/data": "/etc/passwd"})

    index.vendor("one")

    assert not [path for path in index.bot.rglob("*") if path.is_symlink()]
    assert b"root:" not in b"".join(index.files().values())


@pytest.mark.slow
def test_a_wheel_for_another_python_is_not_taken(index: Index) -> None:
    index.add("other", tag="cp310-cp310-manylinux_2_17_x86_64")

    code, last = index.vendor("other")

    assert code == 1
    assert "pip could not fetch the packages" in last
    assert set(index.files()) == {"bot.py"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["./one.whl"], "is not a package such as"),
        (["one @ file:///one.whl"], "is not a package such as"),
        (["--python", "2.7", "one"], "is not a version such as"),
        ([], "name packages, as in torres vendor numpy"),
    ],
)
def test_an_error_says_what_to_do(tmp_path: Path, words: list[str], why: str) -> None:
    done = CliRunner().invoke(
        torres_command, ["vendor", "--into", str(tmp_path), *words]
    )

    assert done.exit_code == 2
    assert why in done.output


def test_a_missing_pip_is_named(index: Index, tmp_path: Path) -> None:
    index.add("one")
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "sitecustomize.py").write_text("import sys\nsys.modules['pip'] = None\n")

    code, last = index.vendor("one", PYTHONPATH=str(shadow))

    assert code == 1
    assert last.endswith("-m ensurepip")


@pytest.mark.slow
def test_the_ladder_says_which_python_it_has(index: Index, server: Any) -> None:
    index.add("one", tag="cp313-cp313-manylinux_2_28_x86_64")

    def tell(*versions: str) -> None:
        languages = [{"name": "python", "versions": versions}]
        server.answers["/api/v1/languages/"] = (200, {"languages": languages})

    tell("Python 3.13.5")
    assert index.vendor("one", "--ladder", server.address)[0] == 0
    assert "Python 3.13 on Linux" in index.files()[LOCK].decode()

    tell("Python 3.11.2", "Python 3.13.5\x1b]0;")
    code, last = index.vendor("one", "--ladder", server.address)
    assert code == 2
    assert "names Python 3.11.2 and Python 3.13.5" in last
    assert last.endswith("as in --python 3.11")
    assert "\x1b" not in last


def test_a_check_knows_packages_that_do_not_run_here(index: Index) -> None:
    index.add("one", tag=f"cp{HERE.replace('.', '')}-none-any")
    index.add("two", tag="cp399-cp399-manylinux_2_17_x86_64")
    index.add("three", tag="py3-none-win_amd64")
    for wheel in index.wheels.iterdir():
        with ZipFile(wheel) as packed:
            packed.extractall(index.bot)
    with (index.bot / "one-1.0.dist-info/WHEEL").open("a") as more:
        more.write("Tag: no tag\nTag: a-b-c-d\n")

    (finding,) = package_findings(index.bot)

    assert finding.code == "foreign-wheel"
    assert finding.evidence == "three 1.0, two 1.0"
    assert f"Python {HERE}" in finding.cause


@pytest.mark.slow
def test_a_hostile_list_of_files_names_nothing_outside(index: Index) -> None:
    outside = index.bot.parent / "outside"
    outside.write_text("mine")
    home = index.bot / "evil-1.0.dist-info"
    home.mkdir()
    rows = [
        "../outside,,",
        f"{outside},,",
        '"open,,',
        "\0,,",
        "evil-1.0.dist-info/RECORD,,",
    ]
    (home / "RECORD").write_text("\n".join(rows))
    index.add("one")

    assert index.vendor("one")[0] == 0

    assert index.vendor("one")[0] == 0
    assert outside.read_text() == "mine"
    assert index.files()["bot.py"] == b"import one\n"


def test_only_locked_packages_are_replaced(tmp_path: Path) -> None:
    bot, outside = tmp_path / "bot", tmp_path / "outside"
    outside.mkdir()
    for name in ("locked", "foreign"):
        home = bot / f"{name}-1.0.dist-info"
        home.mkdir(parents=True)
        (home / "RECORD").write_text(f"{name}.py,,\nlinked/mine,,\n")
        (bot / f"{name}.py").touch()
    (outside / "mine").touch()
    (bot / "linked").symlink_to(outside)
    (bot / LOCK).write_text("locked==1.0 --hash=sha256:00\n")

    remove_packages(bot)

    assert not (bot / "locked.py").exists()
    assert (bot / "foreign.py").exists()
    assert (outside / "mine").exists()
