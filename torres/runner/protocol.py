"""The bot protocol torres/1: it encodes our lines and decodes those of the bots.

docs/contract.md, section 8, is the specification. This module decides what a line
means. It does not know whether an answer is legal (the referee does) or how long it
took (the process does). All output of a bot is untrusted: for any bytes,
``read_ready`` and ``read_answer`` return a value or raise
``PlayerFault(Fault.PROTOCOL, …)``, and raise nothing else.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import msgspec

from engine.faults import Fault
from engine.referee import Ask, Hello, PlayerFault, ServiceFault
from torres.runner import thoughts

PROTOCOL = "torres/1"
MAX_LINE_BYTES = 65_536  # of a line that the referee writes, with its newline
MAX_NOTE_BYTES = 1_024
STDERR_TAIL_BYTES = 65_536  # the end of a program's stderr, stored for the bot's owner
SHOWN_STDERR_BYTES = 16_384  # of a game, which a ladder shows to the bot's owner
STDERR_PER_STDOUT = 16  # the limit of stderr is this multiple of that of stdout
_MAX_NAME_CHARS = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one bot in one game. The bot gets them in ``hello``.

    ``memory_mb`` (in MiB) and ``pids`` (processes and threads) hold for the whole bot;
    ``tmp_mb`` is the size of its /tmp; ``line_bytes`` limits one line and
    ``output_bytes`` the whole stdout. ``move_ms`` and ``bank_ms`` are the clock at the
    start of the game; the referee keeps the clock after that.
    """

    memory_mb: int = 256
    pids: int = 64
    tmp_mb: int = 16
    line_bytes: int = MAX_LINE_BYTES
    output_bytes: int = 1_048_576
    start_ms: int = 10_000
    move_ms: int = 1_000
    bank_ms: int = 10_000

    def as_dict(self) -> dict[str, int]:
        """Return the ``limits`` of ``hello``, with the keys in the contract's order."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ready:
    """The bot is ready. ``legal`` is true if it wants the legal actions to be sent."""

    name: str | None
    legal: bool


class Reply(msgspec.Struct, frozen=True):
    """An answer of the right shape: exactly one of ``actions`` and ``index`` is set."""

    actions: list[str] | None
    index: int | None
    note: str | None
    thought: thoughts.Thought | None = None


class _Clock(msgspec.Struct):
    move_ms: int
    bank_ms: int


class _Decide(msgspec.Struct, tag="decide"):
    """A ``decide`` message, keys in the contract's order. ``legal`` may be unset."""

    decision: str
    ply: int
    state: dict[str, object]
    events: list[dict[str, object]]
    legal: list[str] | msgspec.UnsetType
    clock: _Clock


class _Line(msgspec.Struct):
    """All keys that matter in a bot's line.

    ``type`` may be of any JSON type here, so that a wrong one gets our error message.
    """

    type: Any = None
    name: str | None = None
    legal: bool = True
    actions: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None
    index: Annotated[int, msgspec.Meta(ge=0)] | None = None
    note: str | None = None
    say: msgspec.Raw = msgspec.Raw()
    expect: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Line).decode
_encode_lines = msgspec.json.Encoder().encode_lines
_REPEATED = re.compile(rb'\\u|"(?:actions|index)".*"(?:actions|index)"')
"""Finds the lines that need a search for repeated keys, which is expensive.

A usual answer has one of the two keys, once, without escapes.
"""


def encode(message: Mapping[str, object] | msgspec.Struct) -> bytes:
    """Return ``message`` as one line of ASCII JSON, without spaces."""
    line = _encode_lines((message,))
    if line.isascii():
        return line
    # msgspec writes UTF-8. Only messages that quote a bot have other characters.
    builtins = msgspec.to_builtins(message)
    return json.dumps(builtins, separators=(",", ":")).encode("ascii") + b"\n"


def encode_hello(hello: Hello) -> bytes:
    """Return the ``hello`` line, keys in the contract's order."""
    return encode(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "ruleset": hello.ruleset,
            "switches": hello.switches,
            "seats": hello.seats,
            "seat": hello.seat,
            "seed": hello.seed,
            "limits": hello.limits,
        }
    )


def encode_decide(ask: Ask, *, legal: bool) -> bytes:
    """Return the ``decide`` line of ``ask``, with the legal actions if ``legal``.

    The legal actions are left out if they would make the line longer than
    ``MAX_LINE_BYTES``. Raises ServiceFault if the line is too long without them, which
    can only be a mistake of the service.
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
    raise ServiceFault(
        f"a decide line has {len(line)} bytes, and {MAX_LINE_BYTES} are allowed"
    )


def read_ready(line: bytes) -> Ready | None:
    """Decode a line before the first decision; None if its ``type`` is unknown."""
    message = _parse(line)
    if message.type != "ready":
        if isinstance(message.type, str):
            return None
        raise PlayerFault(
            Fault.PROTOCOL, f'expected {{"type":"ready"}}, got {quote(line)}'
        )
    name = message.name[:_MAX_NAME_CHARS] if message.name else None
    return Ready(name, message.legal)


def read_answer(line: bytes) -> Reply | None:
    """Decode a line after a question; None if it is another message than an answer.

    A line with ``actions`` or ``index`` is an answer, whatever its ``type`` is. A line
    with neither is another message if its ``type`` is a string, and otherwise a fault.
    """
    message = _parse(line)
    if message.actions is None and message.index is None:
        if isinstance(message.type, str):
            return None
        raise PlayerFault(
            Fault.PROTOCOL, f'neither "actions" nor "index" in {quote(line)}'
        )
    if message.actions is not None and message.index is not None:
        raise PlayerFault(
            Fault.PROTOCOL, f'both "actions" and "index" in {quote(line)}'
        )
    note = None if message.note is None else _cut(message.note)
    thought = None
    if message.say or message.expect:
        say, expect = map(thoughts.decode, (message.say, message.expect))
        thought = thoughts.thought_of(say, expect)
    return Reply(message.actions, message.index, note, thought)


def quote(line: bytes, max_bytes: int = 200) -> str:
    """Return the first ``max_bytes`` of a bot's output as printable ASCII."""
    text = ascii(line[:max_bytes].decode("utf-8", "backslashreplace"))[1:-1]
    return f"{text}…" if len(line) > max_bytes else text


def _parse(line: bytes) -> _Line:
    try:
        if not line.isascii():
            line.decode()  # msgspec does not check the values that it skips
        message = _decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError) as why:
        raise PlayerFault(Fault.PROTOCOL, f"{_reason(why)}: {quote(line)}") from None
    if _REPEATED.search(line):
        _refuse_repeated_keys(line)
    return message


def _reason(why: Exception) -> str:
    if isinstance(why, RecursionError):
        return "JSON nested too deeply"
    if isinstance(why, UnicodeError):
        return "invalid UTF-8"
    return str(why)[:200]


def _refuse_repeated_keys(line: bytes) -> None:
    """Raise PlayerFault if an object has a key twice: either value could be meant."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        values = dict(pairs)
        if len(values) < len(pairs):
            raise PlayerFault(
                Fault.PROTOCOL, f"an object has a key twice: {quote(line)}"
            )
        return values

    try:
        json.loads(line, object_pairs_hook=unique)
    except (ValueError, RecursionError) as why:
        raise PlayerFault(Fault.PROTOCOL, f"{_reason(why)}: {quote(line)}") from None


def _cut(note: str) -> str:
    """Cut a note at ``MAX_NOTE_BYTES`` of UTF-8, between two characters."""
    return note.encode("utf-8", "replace")[:MAX_NOTE_BYTES].decode("utf-8", "ignore")
