"""The languages, one row each, and how a bot given by a path becomes a box.

The entry is ``bot.<suffix>`` at the root or in the only top folder (contract,
section 10); ``__MACOSX`` and dot files are not there. A ``bot.toml`` beside it can say
otherwise: ``language`` (a row's name), ``entry`` and ``sources`` (paths in the folder).
"""

import os
import shutil
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from ladder.common.errors import LadderError
from ladder.runner.sandbox.api import Program

PYTHON = "/usr/bin/python3"
MANIFEST = "bot.toml"
_MANIFEST_BYTES = 16_384


class EntryNotFound(LadderError):
    """There is no bot where one was expected; the message says what was looked for."""

    code = "no-bot"
    http_status = 422


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    ``run`` starts the bot in its folder: ``{entry}`` is the entry's path there,
    ``{stem}`` its name without the suffix, ``{heap_mb}`` three quarters of the memory.
    ``compile`` runs once in the folder of the sources and writes to ``{out}``;
    ``{sources}`` are the files with the entry's suffix in the entry's folder.
    ``needs`` are packages of Debian by the program in /usr/bin that shows them.
    """

    name: str
    suffixes: tuple[str, ...]
    run: tuple[str, ...]
    compile: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()


_JAVA = (
    "java", "-Xmx{heap_mb}m", "-Xshare:auto", "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", ".", "{stem}",
)  # fmt: skip
_GO = ("go", "build", "-o", "{out}/bot", ".")
_TS = (
    "esbuild", "{entry}", "--bundle", "--platform=node", "--log-level=warning",
    "--outfile={out}/bot.js",
)  # fmt: skip

LANGUAGES = (
    Language(
        "python",
        (".py",),
        (PYTHON, "-s", "-B", "-u", "{entry}"),
        needs=(("python3", "python3"),),
    ),
    Language(
        "javascript",
        (".js", ".mjs", ".cjs"),
        ("node", "--max-old-space-size={heap_mb}", "{entry}"),
        needs=(("node", "nodejs"),),
    ),
    Language(
        "typescript",
        (".ts",),
        ("node", "--max-old-space-size={heap_mb}", "bot.js"),
        compile=_TS,
        needs=(("node", "nodejs"), ("esbuild", "esbuild")),
    ),
    Language(
        "c",
        (".c",),
        ("./bot",),
        compile=("gcc", "-O2", "-o", "{out}/bot", "{sources}", "-lm", "-pthread"),
        needs=(("gcc", "gcc"), ("ld", "binutils")),
    ),
    Language(
        "cpp",
        (".cpp", ".cc", ".cxx"),
        ("./bot",),
        compile=(
            "g++",
            "-O2",
            "-std=c++20",
            "-o",
            "{out}/bot",
            "{sources}",
            "-pthread",
        ),
        needs=(("g++", "g++"), ("ld", "binutils")),
    ),
    Language(
        "rust",
        (".rs",),
        ("./bot",),
        compile=("rustc", "-O", "--edition", "2021", "-o", "{out}/bot", "{entry}"),
        needs=(("rustc", "rustc"), ("cc", "gcc")),
    ),
    Language("go", (".go",), ("./bot",), compile=_GO, needs=(("go", "golang-go"),)),
    Language(
        "java",
        (".java",),
        _JAVA,
        compile=("javac", "-encoding", "UTF-8", "-d", "{out}", "{sources}"),
        needs=(("java", "default-jre-headless"), ("javac", "default-jdk-headless")),
    ),
    Language("executable", ("",), ("./{entry}",)),
)
BY_NAME = {runtime.name: runtime for runtime in LANGUAGES}


def suffixes() -> list[str]:
    """Return the suffixes that the entry of an uploaded bot may have."""
    return [suffix for runtime in LANGUAGES for suffix in runtime.suffixes if suffix]


def missing(runtime: Language) -> list[str]:
    """Return the packages that a sandboxed bot in this language lacks here.

    Only /usr counts: what lies in a home folder is invisible in the sandbox.
    """
    needs = runtime.needs
    return sorted({p for tool, p in needs if not shutil.which(tool, path="/usr/bin")})


def locate(path: Path) -> Program:
    """Return the box of a bot given as a file or as a folder.

    A file is the entry itself, whatever its name; any executable file will do. Raises
    NoBot with what would have been one.
    """
    path = path.absolute()
    if path.is_file():
        return _box(path.parent, path.name, _runtime_of(path))
    if not path.is_dir():
        raise EntryNotFound(f"{path} is neither a file nor a folder.")
    folder = _root(path)
    if (folder / MANIFEST).is_file():
        return _as_the_manifest_says(folder)
    for runtime in LANGUAGES:
        for suffix in runtime.suffixes:
            if (folder / f"bot{suffix}").is_file():
                return _box(folder, f"bot{suffix}", runtime)
    wanted = ", ".join(f"bot{s}" for runtime in LANGUAGES for s in runtime.suffixes)
    raise EntryNotFound(
        f"{path} has no entry. Name the bot's main file one of: {wanted}."
    )


class _Manifest(msgspec.Struct, forbid_unknown_fields=True):
    language: str
    entry: str
    sources: list[str] = []


def _as_the_manifest_says(folder: Path) -> Program:
    said = _manifest(folder / MANIFEST)
    if said.language not in BY_NAME:
        known = ", ".join(BY_NAME)
        raise EntryNotFound(
            f"{MANIFEST}: no language {said.language!r}; there are {known}."
        )
    for name in (said.entry, *said.sources):
        way = PurePosixPath(name)
        if way.is_absolute() or ".." in way.parts or name.startswith("-"):
            raise EntryNotFound(
                f"{MANIFEST}: {name!r} does not stay in the bot's folder."
            )
        if not (folder / name).is_file():
            raise EntryNotFound(f"{MANIFEST}: there is no file {name!r}.")
    return _box(folder, said.entry, BY_NAME[said.language], said.sources)


def _manifest(path: Path) -> _Manifest:
    try:
        if path.stat().st_size > _MANIFEST_BYTES:
            raise EntryNotFound(f"{MANIFEST} is longer than {_MANIFEST_BYTES} bytes.")
        said = tomllib.loads(path.read_text("utf-8"))
        return msgspec.convert(said, _Manifest)
    except (OSError, ValueError, RecursionError) as why:
        raise EntryNotFound(f"{MANIFEST} is not as it should be: {why}") from why


def _root(path: Path) -> Path:
    """Return the folder that holds the bot: the only top folder, if there is one."""
    there = [p for p in path.iterdir() if not _ignored(p.name)]
    return there[0] if len(there) == 1 and there[0].is_dir() else path


def _ignored(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _runtime_of(file: Path) -> Language:
    for runtime in LANGUAGES:
        if file.suffix and file.suffix in runtime.suffixes:
            return runtime
    if os.access(file, os.X_OK):
        return BY_NAME["executable"]
    raise EntryNotFound(
        f"{file} is neither in a language that is known here nor executable."
        " Say chmod +x if it is a program."
    )


def _box(
    folder: Path, entry: str, runtime: Language, sources: Iterable[str] = ()
) -> Program:
    way = PurePosixPath(entry)
    beside = (folder / way).parent.glob(f"*{way.suffix}") if runtime.compile else ()
    found = list(sources) or sorted(str(p.relative_to(folder)) for p in beside)
    words = {"{entry}": [entry], "{stem}": [way.stem], "{sources}": found}
    return Program(
        folder,
        entry,
        runtime.name,
        _filled(runtime.run, words),
        compile=_filled(runtime.compile, words),
    )


def _filled(command: Iterable[str], words: dict[str, list[str]]) -> tuple[str, ...]:
    filled: list[str] = []
    for part in command:
        if part == "{sources}":
            filled += words[part]
            continue
        for name, value in words.items():
            part = part.replace(name, value[0] if value else "")  # noqa: PLW2901
        filled.append(part)
    return tuple(filled)
