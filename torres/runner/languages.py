"""The languages of bots, and which program the bot at a path is.

The entry of a bot is ``bot.<suffix>`` in its folder or in the only folder there
(docs/contract.md, section 10). ``__MACOSX`` and names with a leading dot are ignored.
A file ``bot.toml`` in the folder can name another entry: it has the keys ``language``
(a name in ``LANGUAGES``), ``entry`` and ``sources`` (paths in the folder).
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from torres.common.errors import LadderError
from torres.runner.manifest import MANIFEST, BadManifest, read_manifest
from torres.runner.sandbox.api import Program
from torres.runner.tool_versions import SERVERS_PYTHON

_MAX_SHOWN_NAMES = 6  # of files in a message
_MAX_SHOWN_CHARS = 60


class EntryNotFound(LadderError, code="no-bot", http_status=422):
    """A path has no bot. The message says which file would be one."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    ``run`` is the command that starts the bot, in its folder. In it ``{entry}`` is the
    path of the entry in that folder, ``{stem}`` the entry's name without the suffix,
    and ``{heap_mb}`` three quarters of the bot's memory. ``compile`` is the command
    that runs once, in the folder of the sources, and writes to the folder ``{out}``. In
    it ``{sources}`` are the files with the entry's suffix in the entry's folder, and
    all paths begin with ``./``.
    ``needs`` are pairs of a program in /usr/bin and the Debian package that has it.
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
        (SERVERS_PYTHON, "-s", "-B", "-u", "{entry}"),
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
BY_NAME = {language.name: language for language in LANGUAGES}


def suffixes() -> list[str]:
    """Return the suffixes that the entry of an uploaded bot may have."""
    return [suffix for language in LANGUAGES for suffix in language.suffixes if suffix]


def missing(language: Language) -> list[str]:
    """Return the Debian packages that this machine needs for the language, sorted.

    Only programs in /usr/bin count, because the sandbox does not show home folders.
    """
    packages = {
        package
        for tool, package in language.needs
        if not shutil.which(tool, path="/usr/bin")
    }
    return sorted(packages)


def locate(path: Path) -> Program:
    """Return the program of the bot at a path, which is a file or a folder.

    A file is the entry itself, whatever its name is; any executable file is a bot.
    Raises EntryNotFound.
    """
    path = path.absolute()
    if path.is_file():
        return _program(path.parent, path.name, _language_of(path))
    if not path.is_dir():
        raise EntryNotFound(
            f"{path} is neither a file nor a folder. Give the path of a bot."
        )
    folder = _root(path)
    if (folder / MANIFEST).is_file():
        return _box_of_manifest(folder)
    for language in LANGUAGES:
        for suffix in language.suffixes:
            if (folder / f"bot{suffix}").is_file():
                return _program(folder, f"bot{suffix}", language)
    names = ", ".join(f"bot{s}" for language in LANGUAGES for s in language.suffixes)
    found = shortened_list(entry.name for entry in folder.iterdir())
    raise EntryNotFound(
        f"{path} has no entry: it holds {found}. Give the bot's main file one of these"
        f" names: {names}."
    )


def shortened_list(names: Iterable[str]) -> str:
    """Return the names of files for a message: sorted, in ASCII, and not too many."""
    every = sorted(ascii(name)[1:-1][:_MAX_SHOWN_CHARS] for name in names)
    shown = ", ".join(every[:_MAX_SHOWN_NAMES]) or "nothing"
    more = len(every) - _MAX_SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _box_of_manifest(folder: Path) -> Program:
    """Return the program that the folder's manifest describes. Raises EntryNotFound."""
    try:
        manifest = read_manifest(folder / MANIFEST)
    except BadManifest as why:
        raise EntryNotFound(f"{MANIFEST} {why}") from why
    if manifest.language not in BY_NAME:
        names = ", ".join(BY_NAME)
        raise EntryNotFound(
            f"{MANIFEST}: no language {manifest.language!r}. Use one of: {names}."
        )
    for name in (manifest.entry, *manifest.sources):
        path = PurePosixPath(name)
        # A name with a leading dash would be an option to the compiler.
        if path.is_absolute() or ".." in path.parts or name.startswith("-"):
            raise EntryNotFound(
                f"{MANIFEST}: {name!r} does not stay in the bot's folder."
                " Use a path in that folder."
            )
        if not (folder / name).is_file():
            raise EntryNotFound(
                f"{MANIFEST}: there is no file {name!r}. Correct the path, or add it."
            )
    language = BY_NAME[manifest.language]
    return _program(folder, manifest.entry, language, manifest.sources)


def _root(path: Path) -> Path:
    """Return the folder that holds the bot: the only top folder, if there is one."""
    entries = [entry for entry in path.iterdir() if not is_ignored([entry.name])]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else path


def is_ignored(parts: Sequence[str]) -> bool:
    """True for a path, given as its parts, that is no part of a bot.

    These are dot files, files in dot folders, and the folder that macOS adds at the top
    of an archive.
    """
    return parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)


def _language_of(file: Path) -> Language:
    for language in LANGUAGES:
        if file.suffix and file.suffix in language.suffixes:
            return language
    if os.access(file, os.X_OK):
        return BY_NAME["executable"]
    raise EntryNotFound(
        f"{file} has no suffix of a known language, and is not executable."
        " If it is a program, run chmod +x on it."
    )


def _program(
    folder: Path, entry: str, language: Language, sources: Iterable[str] = ()
) -> Program:
    """Return the program of a bot.

    Without ``sources``, the sources are all files beside the entry with its suffix.
    """
    path = PurePosixPath(entry)
    source_names = list(sources)
    if language.compile and not source_names:
        beside = (folder / path).parent.glob(f"*{path.suffix}")
        source_names = sorted(str(source.relative_to(folder)) for source in beside)
    # Compilers take a name that begins with "@" or "-" for options.
    values = {"{entry}": [entry], "{stem}": [path.stem]}
    compile_values = {
        "{entry}": [f"./{entry}"],
        "{sources}": [f"./{name}" for name in source_names],
    }
    return Program(
        folder,
        entry,
        language.name,
        _fill(language.run, values),
        compile=_fill(language.compile, compile_values),
    )


def _fill(command: Iterable[str], values: dict[str, list[str]]) -> tuple[str, ...]:
    """Replace the placeholders in a command. ``{sources}`` becomes several words."""
    words: list[str] = []
    for word in command:
        if word == "{sources}":
            words += values[word]
            continue
        for placeholder, value in values.items():
            word = word.replace(placeholder, value[0] if value else "")  # noqa: PLW2901
        words.append(word)
    return tuple(words)
