"""The output that a seat leaves behind for the owner of its bot, and its verdict."""

from dataclasses import dataclass, field

from torres.common.json_object import JsonObject
from torres.runner.clock import Charge
from torres.runner.sandbox.api import Exit


@dataclass(frozen=True, slots=True)
class BotStart:
    """How long a bot took to start. `at` is the time of its start since 1970.

    ``sandbox_s`` is the time until the worker had handed it over to its sandbox, and
    ``ready_s`` the time until it said that it is ready, from the same moment; None if
    it never did. All in seconds.
    """

    at: float
    sandbox_s: float
    ready_s: float | None = None


@dataclass(frozen=True, slots=True)
class SeatOutput:
    """The output of one seat when its player has ended.

    ``stderr`` is the bot's stderr as text: its beginning and its end, together at most
    ``STDERR_TAIL_BYTES``.
    ``notes`` holds one ``{"move": index, "note": text}`` for each note of the bot.
    ``verdict`` is a verdict as JSON, and empty if the seat did not forfeit.
    ``started`` is None if no process of the bot was started.
    ``evidence`` is a `BotEnding` as JSON, and empty if no process was started.
    """

    stderr: str = ""
    notes: list[JsonObject] = field(default_factory=list)
    verdict: JsonObject = field(default_factory=dict)
    started: BotStart | None = None
    evidence: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """The present use of a bot: peak of memory in bytes (None if unknown), threads.

    ``stderr_bytes`` is all that it has written to stderr so far.
    """

    memory_peak: int | None
    threads: int
    stderr_bytes: int


@dataclass(frozen=True, slots=True)
class BotEnding:
    """How a bot ended. It is stored as evidence if an attempt fails in its seat.

    ``decision`` and ``ply`` name the last question, and ``charge`` is its cost; None
    before the first one. ``exit`` is None if no process was started. ``counters`` are
    those of ``Running`` just before the bot was killed. ``memory_peak`` is in bytes.
    """

    decision: str | None
    ply: int | None
    exit: Exit | None
    counters: dict[str, int]
    charge: Charge | None
    memory_peak: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that is known of a fault.

    ``sent`` is the last line that the bot got, ``received`` is what it has written
    since; each is cut at ``MAX_LINE_BYTES``. ``move_ms`` and ``bank_ms`` are the clock
    that the bot had for the decision (at its start: ``start_ms`` and 0). ``charge`` is
    the cost of the decision when it ended. ``memory_peak`` is in bytes. ``stderr`` has
    the last ``STDERR_TAIL_BYTES`` of it. ``decision`` and ``ply`` are None before the
    first decision. After a timeout, ``unread`` is how many bytes of ``sent`` the bot
    had not read, and ``late`` what it wrote when its stdin was closed.
    """

    reason: str
    detail: str
    decision: str | None
    ply: int | None
    sent: bytes
    received: bytes
    move_ms: float
    bank_ms: float
    charge: Charge | None
    exit: Exit | None
    memory_peak: int | None
    stderr: bytes
    unread: int = 0
    late: bytes = b""
