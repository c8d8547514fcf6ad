"""Mistakes that the files of a bot show before the bot runs.

Sources of Python are parsed, and sources of other languages are searched for words. So
a finding is a warning: the code may never run.
"""

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from torres.checking.findings import Finding, fault, warning
from torres.checking.packages import files_of_packages, package_findings
from torres.common.text_encoding import UTF_8_MARK, foreign_encoding
from torres.runner.sandbox.api import Program
from torres.runner.shebang import Shebang, is_binary, read_shebang

_MAX_SOURCE_BYTES = 1 << 20
_MAX_SOURCES = 200
_PYTHON = ".py"
_NETWORK_MODULES = frozenset(
    {"aiohttp", "ftplib", "http", "httpx", "imaplib", "poplib", "requests", "smtplib"}
    | {"socket", "urllib3", "websockets", "xmlrpc"}
)
_WALL_CLOCKS = frozenset({"time", "perf_counter", "monotonic", "time_ns"}) | {
    f"{name}_ns" for name in ("perf_counter", "monotonic")
}
_OWN_MODULES = frozenset({"engine"})

_WALL_WORDS = {
    ".js": r"\bDate\.now\(|\bperformance\.now\(|\bnew Date\(\)|process\.hrtime",
    ".c": r"\bgettimeofday\(|CLOCK_(MONOTONIC|REALTIME)|\btime\(NULL\)",
    ".cpp": r"\b(steady|system|high_resolution)_clock\b|CLOCK_(MONOTONIC|REALTIME)",
    ".rs": r"\bInstant::now\(|\bSystemTime::now\(",
    ".go": r"\btime\.(Now|Since|After|NewTimer)\(",
    ".java": r"\bSystem\.(nanoTime|currentTimeMillis)\(|\bInstant\.now\(",
}
_NETWORK_WORDS = {
    ".js": r"""(require\(|from\s+)["'](node:)?(https?|net|dgram)["']|\bfetch\(""",
    ".c": r"<sys/socket\.h>|<netdb\.h>|<curl/",
    ".rs": r"\bstd::net\b",
    ".go": r'"net(/http)?"',
    ".java": r"\bjava\.net\.",
}
_SAME_WORDS = {
    ".ts": ".js",
    ".mjs": ".js",
    ".cjs": ".js",
    ".cc": ".cpp",
    ".cxx": ".cpp",
}
_CPU_CLOCKS = (
    "time.process_time() in Python, process.cpuUsage() in Node.js, clock() in C"
)


def inspect_files(program: Program) -> list[Finding]:
    """Return what the files of a bot show. The entry must exist.

    Call it for the files of the person at this machine only: a hostile source can
    crash the parser of Python.
    """
    findings = inspect_entry(program)
    if program.language == "python":
        findings += package_findings(program.folder)
    for path in _sources(program.folder):
        name = path.relative_to(program.folder).as_posix()
        encoding = _encoding_findings(path, name)
        if encoding:
            findings += encoding
            continue
        text = path.read_text("utf-8-sig", "replace")
        if path.suffix == _PYTHON:
            findings += _python_findings(text, name, program.folder)
        else:
            findings += _word_findings(text, name, path.suffix)
    return list({finding.code: finding for finding in reversed(findings)}.values())


def inspect_entry(program: Program) -> list[Finding]:
    """Return what is wrong with the first bytes of a program.

    It parses nothing, so that a server may call it for files that it does not trust.
    """
    entry = program.folder / program.entry
    if program.language != "executable":
        return _encoding_findings(entry, program.entry)
    shebang = read_shebang(entry)
    if shebang is None:
        return [] if is_binary(entry) else [_not_executable(entry)]
    if shebang.has_carriage_return:
        return [
            fault(
                "crlf",
                "Its first line ends as on Windows, with a carriage return, so that"
                " Linux looks for a program named"
                f" {shebang.interpreter + chr(13)!a}.",
                "Save the file with the line ends of Unix (LF).",
            )
        ]
    return [] if shebang.is_installed() else [_missing_interpreter(shebang)]


def _not_executable(entry: Path) -> Finding:
    if _encoding_of(entry):
        return _wrong_encoding(entry.name, _encoding_of(entry))
    return fault(
        "no-shebang",
        "Linux cannot start it: it is no Linux program (ELF), and its first line does"
        " not name an interpreter.",
        "Begin a script with a #! line such as #!/usr/bin/env python3; build a program"
        " for Linux.",
    )


def _encoding_findings(file: Path, name: str) -> list[Finding]:
    """Return the finding about a source that its compiler or interpreter refuses."""
    encoding = _encoding_of(file)
    accepts_mark = file.suffix != ".java"
    if encoding is None or (encoding == UTF_8_MARK and accepts_mark):
        return []
    return [_wrong_encoding(name, encoding)]


def _encoding_of(file: Path) -> str | None:
    with file.open("rb") as content:
        return foreign_encoding(content.read(4))


def _wrong_encoding(name: str, encoding: str | None) -> Finding:
    return fault(
        "source-encoding",
        f"A source file is {encoding}, which its language does not read.",
        "Save it as UTF-8 without a byte order mark.",
        name,
    )


def _missing_interpreter(shebang: Shebang) -> Finding:
    name = ascii(shebang.interpreter)[1:-1]
    return fault(
        "missing-interpreter",
        f"{name} is not installed here, and its first line names it.",
        "Name a program that is installed, or upload a statically linked program.",
    )


def _sources(folder: Path) -> list[Path]:
    """Return the source files of a bot, without the files of its tests."""
    suffixes = {_PYTHON, *_WALL_WORDS, *_SAME_WORDS}
    packages = files_of_packages(folder)
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in suffixes
        and path.is_file()
        and not _is_test(path, folder)
        and not packages & {path, *path.parents}
    ]
    small = [path for path in paths if path.stat().st_size <= _MAX_SOURCE_BYTES]
    return small[:_MAX_SOURCES]


def _is_test(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    if any(part in {"test", "tests"} or part.startswith(".") for part in parts[:-1]):
        return True
    return re.search(r"^test_|_test\.|\.test\.", parts[-1]) is not None


def _python_findings(text: str, name: str, folder: Path) -> Iterator[Finding]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # its first game tells, with the message of the Python that runs it
    imported = {name.partition(".")[0] for name in _dotted_imports(tree)}
    network = sorted(imported & _NETWORK_MODULES)
    if network or "urllib.request" in _dotted_imports(tree):
        yield _uses_network(f"{name} imports {', '.join(network) or 'urllib.request'}")
    unknown = imported - sys.stdlib_module_names - _OWN_MODULES - _local_modules(folder)
    if unknown:
        yield warning(
            "foreign-import",
            "It imports modules that are not in the standard library.",
            "Put their files into the upload, or catch ImportError: a worker may lack"
            " them.",
            f"{name} imports {', '.join(sorted(unknown))}",
        )
    calls = {
        node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute | ast.Name)
    }
    if "time" in imported and calls & _WALL_CLOCKS:
        yield _wall_clock(f"{name} calls {', '.join(sorted(calls & _WALL_CLOCKS))}")


def _dotted_imports(tree: ast.AST) -> set[str]:
    """Return the modules that are imported outside of `try`."""
    names: set[str] = set()
    nodes = [tree]
    for node in nodes:  # the list grows while the loop reads it
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif not isinstance(node, ast.Try):
            nodes += ast.iter_child_nodes(node)
    return names


def _local_modules(folder: Path) -> set[str]:
    """Return the names of the bot's own modules and packages, in any folder."""
    return {path.stem for path in folder.rglob("*.py")} | {
        path.name for path in folder.rglob("*") if path.is_dir()
    }


def _word_findings(text: str, name: str, suffix: str) -> Iterator[Finding]:
    key = _SAME_WORDS.get(suffix, suffix)
    wall = re.search(_WALL_WORDS[key], text)
    if wall:
        yield _wall_clock(f"{name} has {wall[0]}")
    pattern = _NETWORK_WORDS.get(".c" if key == ".cpp" else key)
    network = re.search(pattern, text) if pattern else None
    if network:
        yield _uses_network(f"{name} has {network[0]}")


def _wall_clock(evidence: str) -> Finding:
    return warning(
        "wall-clock",
        "It reads the wall clock, and its clock in a game is charged in CPU time.",
        f"Measure CPU time: {_CPU_CLOCKS}. Otherwise a busy machine makes it hurry.",
        evidence,
    )


def _uses_network(evidence: str) -> Finding:
    return warning(
        "uses-network",
        "It seems to use the network, and bots have none.",
        "Put what it loads into the upload.",
        evidence,
    )
