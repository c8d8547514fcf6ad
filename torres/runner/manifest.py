"""Reads ``bot.toml``, the file in which a bot may name its entry.

Strangers write these files, so that a process with limits parses them
(docs/decisions/0076-archives-open-in-a-limited-process.md).
"""

import sys
import tomllib
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from torres.common.json_object import JsonObject
from torres.common.limited_process import LimitExceeded, ProcessLimits, run_limited
from torres.common.text_encoding import foreign_encoding

MANIFEST = "bot.toml"
_MAX_BYTES = 16_384
_MAX_ERROR_CHARS = 300
_LIMITS = ProcessLimits(cpu_s=2, wall_s=20, memory_mb=256, file_bytes=0)


class BadManifest(Exception):
    """The manifest is not valid. The message tells the author of the bot why."""


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """The language of a bot, and the paths of its files."""

    language: str
    entry: str
    sources: list[str] = []


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises BadManifest, and ProcessFailed if the service fails."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as why:
        raise BadManifest(f"cannot be read: {why.strerror}. Replace it.") from why
    if len(content) > _MAX_BYTES:
        raise BadManifest(f"is longer than {_MAX_BYTES} bytes. Shorten it.")
    encoding = foreign_encoding(content)
    if encoding is not None:
        raise BadManifest(f"is {encoding}. Save it as UTF-8 without a byte order mark.")
    answer = _parse(content)
    if answer["error"]:
        raise BadManifest(f"is not valid: {answer['error']}")
    return msgspec.convert(answer["manifest"], Manifest)


@lru_cache(maxsize=256)  # a worker reads the manifest of a bot again for each game
def _parse(content: bytes) -> JsonObject:
    """Return the manifest as JSON, and the error, in a limited process."""
    with TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        try:
            return run_limited(parse_stdin, {}, file, _LIMITS)
        except LimitExceeded as exceeded:
            return {"error": f"{exceeded}. Make it simpler.", "manifest": None}


def parse_stdin(_arguments: JsonObject) -> JsonObject:
    """Parse the manifest at the standard input. Runs in a limited process."""
    try:
        document = tomllib.loads(sys.stdin.buffer.read().decode())
        manifest = msgspec.convert(document, Manifest)
    except (ValueError, RecursionError) as why:
        return {"error": str(why)[:_MAX_ERROR_CHARS], "manifest": None}
    return {"error": "", "manifest": msgspec.to_builtins(manifest)}
