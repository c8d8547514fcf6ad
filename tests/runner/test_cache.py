"""What a worker keeps of bots: verified before use, and only so much of it."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ladder.runner.cache import ArtifactCache, CacheEntry

Make = Callable[[Path], None]


@pytest.fixture
def store(tmp_path: Path) -> ArtifactCache:
    (tmp_path / "scratch").mkdir()
    return ArtifactCache(tmp_path / "kept", tmp_path / "scratch", 1 << 20)


class Maker:
    """Makes a folder with a file of ``size`` bytes, and counts how often."""

    def __init__(self, size: int = 10) -> None:
        self.size, self.times = size, 0

    def __call__(self, folder: Path) -> None:
        self.times += 1
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "bot.py").write_bytes(b"x" * self.size)


def test_an_entry_is_made_once(store) -> None:
    make = Maker()

    for _ in range(3):
        entry = store.take("a", make)
        assert (entry.files / "sub" / "bot.py").read_bytes() == b"x" * 10
        entry.close()

    assert make.times == 1


def same_size(files: Path) -> None:
    """Change a file and give it back its time, as only a forger does."""
    path = files / "sub" / "bot.py"
    before = path.stat()
    path.write_bytes(b"y" * 10)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def one_more(files: Path) -> None:
    (files / "sub" / "usercustomize.py").touch()


def one_less(files: Path) -> None:
    (files / "sub" / "bot.py").unlink()


def other_mode(files: Path) -> None:
    (files / "sub" / "bot.py").chmod(0o777)


def other_digest(files: Path) -> None:
    (files.parent / "digest").write_text("0" * 64)
    one_more(files)


def no_digest(files: Path) -> None:
    (files.parent / "digest").unlink()
    one_more(files)


@pytest.mark.parametrize(
    "damage", [same_size, one_more, one_less, other_mode, other_digest, no_digest]
)
@pytest.mark.parametrize("used", [True, False])
def test_what_is_not_as_it_was_made_is_made_anew(store, damage, used) -> None:
    make = Maker()
    entry = store.take("a", make)
    if not used:
        entry.close()
    damage(entry.files)

    again = store.take("a", make)

    assert make.times == 2
    assert [p.name for p in again.files.rglob("*.py")] == ["bot.py"]
    assert (again.files / "sub" / "bot.py").read_bytes() == b"x" * 10
    assert oct((again.files / "sub" / "bot.py").stat().st_mode & 0o777) == "0o644"


def test_what_is_too_large_is_kept_alone(store) -> None:
    store.take("small", Maker()).close()

    store.take("large", Maker(2 << 20)).close()

    assert [p.name for p in store.folder.iterdir()] == ["large"]


def test_those_used_last_are_kept(store) -> None:
    make = Maker(300_000)
    entries: dict[str, CacheEntry] = {}
    for at, name in enumerate("abcd"):
        entries[name] = store.take(name, make)
        if name != "a":  # it stays in use
            entries[name].close()
        os.utime(entries[name].files.parent / "digest", (at, at))

    store.take("e", make).close()

    # Three have room; the one in use stays, though it was used first.
    assert sorted(p.name for p in store.folder.iterdir()) == ["a", "c", "d", "e"]
    assert list(store.scratch.iterdir()) == []
    entries["a"].close()


def test_many_take_one_at_the_same_moment(store) -> None:
    make = Maker()

    def take(_: int) -> bytes:
        entry = store.take("a", make)
        content = (entry.files / "sub" / "bot.py").read_bytes()
        entry.close()
        return content

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(take, range(200))) == {b"x" * 10}

    assert list(store.scratch.iterdir()) == []
