"""The bot protocol torres/1: what goes over the pipe, and what may come back.

It decides what a line says, not whether the answer is legal (the referee does) and
not how long it took (the process does). Everything that a bot writes is hostile:
whatever the bytes are, ``read_ready`` and ``read_answer`` return a value or raise
``PlayerFault(Fault.PROTOCOL, …)``, and nothing else.
"""

import json
import re
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import msgspec

from engine.faults import Fault
from engine.referee import Ask, PlayerFault, ServiceFault

PROTOCOL = "torres/1"
MAX_LINE_BYTES = 65_536
"""The longest line that the referee writes, its newline included."""
MAX_NOTE_BYTES = 1_024
_MAX_NAME = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """What one bot may use in one game, told to it in ``hello``.

    ``memory_mb`` (MiB) and ``pids`` (processes and threads) are those of the whole
    bot; ``tmp_mb`` is its /tmp; ``line_bytes`` one line and ``output_bytes`` all that
    it writes to stdout. ``move_ms`` and ``bank_ms`` are the clock it starts with; the
    referee keeps the clock.
    """

    memory_mb: int = 256
    pids: int = 64
    tmp_mb: int = 16
    line_bytes: int = 65_536
    output_bytes: int = 1_048_576
    start_ms: int = 10_000
    move_ms: int = 1_000
    bank_ms: int = 10_000

    def as_dict(self) -> dict[str, int]:
        """Return the ``limits`` of ``hello``, keys in the contract's order."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ready:
    """The bot is ready; ``legal`` says whether it wants the legal actions sent."""

    name: str | None
    legal: bool


class Reply(msgspec.Struct, frozen=True):
    """An answer of the right shape: exactly one of ``actions`` and ``index``."""

    actions: list[str] | None
    index: int | None
    note: str | None


class _Clock(msgspec.Struct):
    move_ms: int
    bank_ms: int


class _Decide(msgspec.Struct, tag="decide"):
    """The keys of ``decide`` in the contract's order; ``legal`` may be left out."""

    decision: str
    ply: int
    state: dict[str, Any]
    events: list[dict[str, Any]]
    legal: list[str] | msgspec.UnsetType
    clock: _Clock


class _Line(msgspec.Struct):
    """Every key that a bot may say; ``type`` is looked at first, so it is loose."""

    type: Any = None
    name: str | None = None
    legal: bool = True
    actions: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None
    index: Annotated[int, msgspec.Meta(ge=0)] | None = None
    note: str | None = None


_decode = msgspec.json.Decoder(_Line).decode
_encode_lines = msgspec.json.Encoder().encode_lines
_REPEATED = re.compile(rb'\\u|"(?:actions|index)".*"(?:actions|index)"')
"""A sane answer names one of the two, once, without escapes in its keys."""


def encode(message: dict[str, Any] | msgspec.Struct) -> bytes:
    """Return ``message`` as one ASCII line without spaces, keys in their order."""
    line = _encode_lines((message,))
    if line.isascii():
        return line
    # Only a refusal can quote a bot; msgspec writes UTF-8.
    plain = msgspec.to_builtins(message)
    return json.dumps(plain, separators=(",", ":")).encode("ascii") + b"\n"


def encode_decide(ask: Ask, *, legal: bool) -> bytes:
    """Return the ``decide`` line of ``ask``, with its legal actions if wanted.

    A list of legal actions that would make the line longer than ``MAX_LINE_BYTES`` is
    left out, as for a bot that does not want it. Raises ServiceFault if it is too long
    even so: that can only be our own mistake.
    """
    message = _Decide(
        ask.decision,
        ask.ply,
        ask.state,
        ask.events,
        ask.legal if legal else msgspec.UNSET,
        _Clock(int(ask.move_ms), int(ask.bank_ms)),
    )
    line = _encode_lines((message,))
    if not line.isascii():
        line = encode(message)
    if len(line) <= MAX_LINE_BYTES:
        return line
    if legal:
        return encode_decide(ask, legal=False)
    raise ServiceFault(f"a decide line of {len(line)} bytes, more than we may write")


def read_ready(line: bytes) -> Ready | None:
    """Return what a line says before the game; None for a message we do not know."""
    said = _parse(line)
    if said.type != "ready":
        if isinstance(said.type, str):
            return None
        raise PlayerFault(
            Fault.PROTOCOL, f'expected {{"type":"ready"}}, got {quote(line)}'
        )
    return Ready(said.name[:_MAX_NAME] if said.name else None, said.legal)


def read_answer(line: bytes) -> Reply | None:
    """Return the answer in a line; None for a message that we do not know.

    A line with ``actions`` or ``index`` is an answer whatever its ``type``; one with
    neither is ignored if it names a type, and a fault if it does not.
    """
    said = _parse(line)
    if said.actions is None and said.index is None:
        if isinstance(said.type, str):
            return None
        raise PlayerFault(
            Fault.PROTOCOL, f'neither "actions" nor "index" in {quote(line)}'
        )
    if said.actions is not None and said.index is not None:
        raise PlayerFault(
            Fault.PROTOCOL, f'both "actions" and "index" in {quote(line)}'
        )
    note = None if said.note is None else _cut(said.note)
    return Reply(said.actions, said.index, note)


def quote(line: bytes, most: int = 200) -> str:
    """Return what a bot wrote for one line of a message: printable ASCII, bounded."""
    shown = ascii(line[:most].decode("utf-8", "backslashreplace"))[1:-1]
    return f"{shown}…" if len(line) > most else shown


def _parse(line: bytes) -> _Line:
    try:
        if not line.isascii():
            line.decode()  # msgspec does not look into keys that it skips
        said = _decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError) as why:
        raise PlayerFault(Fault.PROTOCOL, f"{_reason(why)}: {quote(line)}") from None
    if _REPEATED.search(line):
        _refuse_repeated_keys(line)
    return said


def _reason(why: Exception) -> str:
    if isinstance(why, RecursionError):
        return "JSON nested too deeply"
    if isinstance(why, UnicodeError):
        return "invalid UTF-8"
    return str(why)[:200]


def _refuse_repeated_keys(line: bytes) -> None:
    """Raise if the object repeats a key: which one counts would be a guess."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        said = dict(pairs)
        if len(said) < len(pairs):
            raise PlayerFault(Fault.PROTOCOL, f"a key is there twice: {quote(line)}")
        return said

    try:
        json.loads(line, object_pairs_hook=unique)
    except (ValueError, RecursionError) as why:
        raise PlayerFault(Fault.PROTOCOL, f"{_reason(why)}: {quote(line)}") from None


def _cut(note: str) -> str:
    return note.encode("utf-8", "replace")[:MAX_NOTE_BYTES].decode("utf-8", "ignore")
