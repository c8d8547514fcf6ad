"""The artifact cache: entries are verified before use, and their size is limited."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from torres.runner.cache import ArtifactCache, CacheEntry

Make = Callable[[Path], None]


@pytest.fixture
def cache(tmp_path: Path) -> ArtifactCache:
    (tmp_path / "scratch").mkdir()
    return ArtifactCache(tmp_path / "cache", tmp_path / "scratch", 1 << 20)


class Maker:
    """Makes a folder with a file of ``size`` bytes, and counts its calls."""

    def __init__(self, size: int = 10) -> None:
        self.size = size
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "bot.py").write_bytes(b"x" * self.size)


def test_an_entry_is_made_once(cache) -> None:
    make = Maker()

    for _ in range(3):
        entry = cache.take("a", make)
        assert (entry.files / "sub" / "bot.py").read_bytes() == b"x" * 10
        entry.close()

    assert make.calls == 1


def same_size_and_time(files: Path) -> None:
    """Change a file's content and restore its time, as only an attacker does."""
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
    "damage",
    [same_size_and_time, one_more, one_less, other_mode, other_digest, no_digest],
)
@pytest.mark.parametrize("in_use", [True, False])
def test_a_damaged_entry_is_made_again(cache, damage, in_use) -> None:
    make = Maker()
    entry = cache.take("a", make)
    if not in_use:
        entry.close()
    damage(entry.files)

    again = cache.take("a", make)

    assert make.calls == 2
    assert [p.name for p in again.files.rglob("*.py")] == ["bot.py"]
    assert (again.files / "sub" / "bot.py").read_bytes() == b"x" * 10
    assert oct((again.files / "sub" / "bot.py").stat().st_mode & 0o777) == "0o644"


def test_an_entry_larger_than_the_cache_stays_alone(cache) -> None:
    cache.take("small", Maker()).close()

    cache.take("large", Maker(2 << 20)).close()

    assert [p.name for p in cache.folder.iterdir()] == ["large"]


def test_the_least_recently_used_entries_are_removed(cache) -> None:
    make = Maker(300_000)
    entries: dict[str, CacheEntry] = {}
    for at, name in enumerate("abcd"):
        entries[name] = cache.take(name, make)
        if name != "a":  # which stays in use
            entries[name].close()
        os.utime(entries[name].files.parent / "digest", (at, at))

    cache.take("e", make).close()

    # There is room for three. The entry in use stays, although it is the oldest.
    assert sorted(p.name for p in cache.folder.iterdir()) == ["a", "c", "d", "e"]
    assert list(cache.scratch.iterdir()) == []
    entries["a"].close()


def test_many_threads_take_the_same_entry_at_once(cache) -> None:
    make = Maker()

    def take(_: int) -> bytes:
        entry = cache.take("a", make)
        content = (entry.files / "sub" / "bot.py").read_bytes()
        entry.close()
        return content

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(take, range(200))) == {b"x" * 10}

    assert list(cache.scratch.iterdir()) == []
