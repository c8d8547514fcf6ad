"""Good uploads, every kind of broken upload, and the error for each of them."""

import gzip
import hashlib
import io
import stat
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from torres.upload import archive, checks
from torres.upload.archive import unpack
from torres.upload.checks import UploadLimits

BOT = b"print('ready')\n"
SUFFIXES = (".py", ".js")
SMALL = UploadLimits(packed=1 << 20, unpacked=4 << 20, files=100)


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as target:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            target.addfile(info, io.BytesIO(content))
        for info in more:
            target.addfile(info)
    return packed.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def zip_link(name: str, target: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive_:
        archive_.writestr("bot.py", BOT)
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive_.writestr(info, target)
    return packed.getvalue()


def unpacked(
    upload: bytes, folder: Path, name: str = "upload", limits: UploadLimits = SMALL
):
    return unpack(io.BytesIO(upload), name, folder, suffixes=SUFFIXES, limits=limits)


def unpacked_here(upload: bytes, folder: Path):
    """Unpack without the process with limits, which takes a tenth of a second."""
    return archive._unpack(io.BytesIO(upload), "upload", folder, SUFFIXES, SMALL)


def expected_digest(files: dict[str, bytes]) -> str:
    sha256 = hashlib.sha256()
    for name, content in sorted(files.items(), key=lambda item: item[0].encode()):
        for part in (name.encode(), content):
            sha256.update(len(part).to_bytes(8, "big") + part)
    return sha256.hexdigest()


FILES = {"bot.py": BOT, "lib/é.py": b"x = 1\n", "lib/a.py": b""}


@pytest.mark.parametrize("packer", [zipped, tarred])
@pytest.mark.parametrize("prefix", ["", "my-bot/", "./"])
def test_the_digest_depends_on_paths_and_contents_only(
    packer, prefix: str, tmp_path: Path
) -> None:
    upload = packer({prefix + name: content for name, content in FILES.items()})

    source = unpacked(upload, tmp_path / "box")

    assert source.digest == expected_digest(FILES)
    assert source.files == ("bot.py", "lib/a.py", "lib/é.py")
    assert source.size == sum(map(len, FILES.values()))
    assert (tmp_path / "box" / "lib" / "é.py").read_bytes() == b"x = 1\n"


def test_a_single_file_is_the_same_bot_as_its_archive(tmp_path: Path) -> None:
    single = unpacked(BOT, tmp_path / "1", "My Bot (3).PY")

    assert single == unpacked(zipped({"bot.py": BOT}), tmp_path / "2")


@pytest.mark.parametrize("program", [b"#!/usr/bin/perl\n", b"\x7fELF\2\1"])
def test_a_program_named_bot_is_an_entry(program: bytes, tmp_path: Path) -> None:
    single = unpacked(program, tmp_path / "1", "bot")

    assert single.files == ("bot",)
    assert single == unpacked(zipped({"bot": program}), tmp_path / "2")
    assert single == unpacked(tarred({"mine/bot": program}), tmp_path / "3")


def test_files_that_operating_systems_add_are_ignored(tmp_path: Path) -> None:
    upload = zipped(
        {
            "deep/bot.py": BOT,
            "deep/.git/config": b"secret",
            "deep/.DS_Store": b"",
            "__MACOSX/deep/._bot.py": b"",
        }
    )

    assert unpacked(upload, tmp_path).files == ("bot.py",)


def test_files_beside_the_only_folder_are_dropped(tmp_path: Path) -> None:
    source = unpacked(zipped({"README": b"hello", "bot/bot.py": BOT}), tmp_path)

    assert source.files == ("bot.py",)
    assert [path.name for path in tmp_path.iterdir()] == ["bot.py"]


def test_a_folder_may_hold_a_folder_with_the_same_name(tmp_path: Path) -> None:
    source = unpacked(zipped({"bot/bot.py": BOT, "bot/bot/x.py": b""}), tmp_path)

    assert source.files == ("bot.py", "bot/x.py")


def test_a_manifest_counts_as_an_entry(tmp_path: Path) -> None:
    source = unpacked(zipped({"bot.toml": b"", "main.py": BOT}), tmp_path)

    assert source.files == ("bot.toml", "main.py")


def test_packing_and_unpacking_change_nothing(
    tmp_path: Path,
) -> None:
    first = io.BytesIO()
    second = io.BytesIO()
    source = unpacked(tarred(FILES), tmp_path / "1")
    archive.pack(tmp_path / "1", source.files, first)
    again = unpacked(first.getvalue(), tmp_path / "2")
    archive.pack(tmp_path / "2", reversed(again.files), second)

    assert again == source
    assert first.getvalue() == second.getvalue()


MANY = {f"f{number}": b"" for number in range(101)}
REFUSED = {
    "not an archive": (b"\x00\x01garbage", "not-an-archive"),
    "an unknown language": (BOT, "not-an-archive"),
    "a broken zip": (zipped(FILES)[:-30], "not-an-archive"),
    "a broken tar": (tarred(FILES)[:-30], "not-an-archive"),
    "gzip of no tar": (gzip.compress(b"nothing" * 400), "not-an-archive"),
    "no byte": (b"", "empty-archive"),
    "an empty zip": (zipped({}), "empty-archive"),
    "an empty tar": (tarred({}), "empty-archive"),
    "only ignored files": (zipped({".bot.py": BOT}), "empty-archive"),
    "a big upload": (bytes(2 << 20), "archive-too-big"),
    "a big zip": (zipped({"bot.py": BOT, "x": bytes(5 << 20)}), "archive-too-big"),
    "a big tar": (tarred({"bot.py": BOT, "x": bytes(5 << 20)}), "archive-too-big"),
    "many files in a zip": (zipped({"bot.py": BOT, **MANY}), "too-many-files"),
    "many files in a tar": (tarred({"bot.py": BOT, **MANY}), "too-many-files"),
    "zip traversal": (zipped({"bot.py": BOT, "../x": b""}), "unsafe-path"),
    "tar traversal": (tarred({"bot.py": BOT, "a/../../x": b""}), "unsafe-path"),
    "an absolute name": (zipped({"bot.py": BOT, "/etc/x": b""}), "unsafe-path"),
    "a backslash": (zipped({"bot.py": BOT, "a\\b": b""}), "unsafe-path"),
    "a drive": (tarred({"bot.py": BOT, "C:x": b""}), "unsafe-path"),
    "a control character": (zipped({"bot.py": BOT, "a\x1b[1m": b""}), "unsafe-path"),
    "an option": (zipped({"bot.py": BOT, "-rf": b""}), "unsafe-path"),
    "a long name": (zipped({"bot.py": BOT, "x" * 201: b""}), "unsafe-path"),
    "a deep name": (zipped({"bot.py": BOT, "x/" * 30 + "y": b""}), "unsafe-path"),
    "a zip link": (zip_link("out", "/etc/passwd"), "not-a-plain-file"),
    "a text named bot": (zipped({"bot": b"hello"}), "no-entry"),
    "no entry": (zipped({"main.py": BOT}), "no-entry"),
    "an entry too deep": (zipped({"a/b/bot.py": BOT}), "no-entry"),
    "two folders": (zipped({"a/bot.py": BOT, "b/bot.py": BOT}), "no-entry"),
    "a file and a folder of a name": (
        zipped({"bot.py": BOT, "a": b"", "a/b": b""}),
        "duplicate-name",
    ),
    "the same name in disguise": (
        zipped({"bot.py": BOT, "./bot.py": BOT}),
        "duplicate-name",
    ),
} | {
    f"a tar {name}": (
        tarred({"bot.py": BOT}, special("out", kind, target)),
        "not-a-plain-file",
    )
    for name, kind, target in [
        ("link", tarfile.SYMTYPE, "../../etc"),
        ("hard link", tarfile.LNKTYPE, "bot.py"),
        ("device", tarfile.CHRTYPE, ""),
        ("fifo", tarfile.FIFOTYPE, ""),
    ]
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_upload_gets_an_error_that_says_what_to_do(
    case: str, tmp_path: Path
) -> None:
    upload, code = REFUSED[case]
    box = tmp_path / "inner" / "box"
    box.parent.mkdir()

    with pytest.raises(checks.BadArchive) as refusal:
        unpacked(upload, box)

    assert refusal.value.code == code
    assert 400 <= refusal.value.http_status < 500
    assert str(refusal.value).endswith(".")
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in box.parent.iterdir()] in (["box"], [])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        target.writestr("bot.py", BOT)
        target.writestr("bot.py", b"another")

    with pytest.raises(checks.DuplicateName):
        unpacked(packed.getvalue(), tmp_path)


def test_a_zip_that_lies_about_its_sizes_is_stopped_by_the_real_bytes(
    tmp_path: Path,
) -> None:
    honest = zipped({"bot.py": BOT, "x": bytes(5 << 20)})
    liar = honest.replace((5 << 20).to_bytes(4, "little"), (5).to_bytes(4, "little"))

    with pytest.raises(checks.BadArchive):
        unpacked(liar, tmp_path)

    written = sum(p.stat().st_size for p in tmp_path.iterdir())
    assert written <= SMALL.unpacked


def test_a_password_is_refused(tmp_path: Path) -> None:
    upload = bytearray(zipped({"bot.py": BOT}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        upload[upload.index(mark) + offset] |= 1

    with pytest.raises(checks.BadArchive, match="encrypted"):
        unpacked(bytes(upload), tmp_path)


def test_unusual_packing_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as target:
        target.writestr("bot.py", BOT)

    with pytest.raises(checks.BadArchive, match="unusual"):
        unpacked(packed.getvalue(), tmp_path)


def test_a_huge_tar_header_is_refused(tmp_path: Path) -> None:
    info = special("x", tarfile.XHDTYPE)
    info.size = 3 << 20
    tar = info.tobuf(tarfile.GNU_FORMAT) + bytes(3 << 20)

    with pytest.raises(checks.BadArchive, match="header"):
        unpacked(gzip.compress(tar), tmp_path)


def test_a_gzip_bomb_is_stopped_while_it_unpacks(tmp_path: Path) -> None:
    with pytest.raises(checks.TooBig):
        unpacked(gzip.compress(bytes(50 << 20)), tmp_path)


def test_a_full_disk_is_not_the_authors_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError):
        unpacked(zipped(FILES), tmp_path / "file" / "box")


INTACT = (zipped(FILES), tarred(FILES))


@settings(max_examples=300, deadline=None)
@example(seed=(0, [(30, 255)]))
@given(
    seed=st.tuples(
        st.sampled_from([0, 1]),
        st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    )
)
def test_a_damaged_archive_is_refused_and_never_crashes_the_service(
    seed, tmp_path_factory
) -> None:
    which, changes = seed
    upload = bytearray(INTACT[which])
    for at, value in changes:
        upload[at % len(upload)] = value
    folder = tmp_path_factory.mktemp("fuzz")

    try:
        source = unpacked_here(bytes(upload), folder)
    except checks.BadArchive:
        return
    assert all(folder in (folder / path).resolve().parents for path in source.files)


@settings(max_examples=200, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=6)
)
def test_a_damaged_tar_inside_an_intact_gzip_is_refused_or_unpacked(
    changes, tmp_path_factory
) -> None:
    tar = bytearray(gzip.decompress(INTACT[1]))
    for at, value in changes:
        tar[at % len(tar)] = value
    folder = tmp_path_factory.mktemp("fuzz")

    try:
        source = unpacked_here(gzip.compress(bytes(tar)), folder)
    except checks.BadArchive:
        return
    assert all(folder in (folder / path).resolve().parents for path in source.files)


# --- archives that attack the parser


def header(kind: bytes, size: int, name: str = "x") -> bytes:
    info = special(name, kind)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def blocks(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def headed(kind: bytes, content: bytes, times: int = 1) -> bytes:
    """Return a tar.gz with extended headers before its only file."""
    extended = (header(kind, len(content)) + blocks(content)) * times
    bot = header(tarfile.REGTYPE, len(BOT), "bot.py")
    return gzip.compress(extended + bot + blocks(BOT) + bytes(1024))


PARSER_ATTACKS = {
    # The digits look like the length of a record, which older releases of Python look
    # for in quadratic time: these take some 10 s.
    "a quadratic expression": headed(tarfile.XHDTYPE, b"1" * 90_000),
    "a chain of options": headed(tarfile.XHDTYPE, b"9 a=b\n1=\n", 400),
    "a chain of long names": headed(tarfile.GNUTYPE_LONGNAME, b"bot.py\0", 400),
    "many long names": tarred(
        {"bot.py": BOT} | {f"{'n' * 150}{number}": b"" for number in range(120)}
    ),
    "a sparse file": headed(tarfile.GNUTYPE_SPARSE, b""),
}


@pytest.mark.parametrize("attack", PARSER_ATTACKS)
def test_an_attack_on_the_parser_of_tars_is_refused_at_once(
    attack: str, tmp_path: Path
) -> None:
    start = time.monotonic()

    with pytest.raises(checks.NotAnArchive, match=r"header|sparse"):
        unpacked(PARSER_ATTACKS[attack], tmp_path / "box", limits=UploadLimits())

    assert time.monotonic() - start < 5


def sparse_map(numbers: bytes) -> bytes:
    """Return a tar.gz with a sparse file whose map stands in the file's content."""
    options = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
    extended = header(tarfile.XHDTYPE, len(options)) + blocks(options)
    tar = extended + header(tarfile.REGTYPE, len(numbers)) + blocks(numbers)
    return gzip.compress(tar, 1)


def test_a_parser_without_end_is_stopped_and_holds_up_no_other_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "CPU_S", 1)
    upload = sparse_map(b"1000000000000\n" + b"0\n" * (16 << 20))
    cpu = time.process_time()

    with pytest.raises(checks.NotAnArchive, match="too much time or memory"):
        unpacked(upload, tmp_path / "box", limits=UploadLimits())

    assert time.process_time() - cpu < 0.5


def test_a_long_quotation_of_an_archive_is_cut(tmp_path: Path) -> None:
    upload = sparse_map(b"1\n" + b"\x1b[31m" * 90 + b"\n")

    with pytest.raises(checks.NotAnArchive, match="invalid literal") as refusal:
        unpacked(upload, tmp_path)

    assert len(str(refusal.value)) < 250
    assert str(refusal.value).isprintable()


def test_a_missing_entry_is_explained_by_the_files_that_are_there(
    tmp_path: Path,
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for number in range(9):
            target.writestr(f"part{number}.py", "")

    with pytest.raises(checks.NoEntry, match=r"holds part0\.py, .* and 3 more\. Put"):
        archive.unpack(content, "a.zip", tmp_path / "bot", suffixes=[".py"])
