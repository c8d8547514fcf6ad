"""What a seat leaves behind for the owner of its bot: its output and its verdict."""

from dataclasses import dataclass, field
from typing import Any

from ladder.runner.clock import Charge
from ladder.runner.sandbox.api import Exit

KEPT_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class SeatOutput:
    """What one seat leaves behind when its player has ended.

    ``stderr`` holds the last ``KEPT_BYTES`` of the bot's stderr as text. ``notes``
    holds one ``{"move": index, "note": text}`` for each note that the bot sent.
    ``verdict`` is a verdict as JSON, and empty if the seat did not forfeit.
    """

    stderr: str = ""
    notes: list[dict[str, Any]] = field(default_factory=list)
    verdict: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that was seen of a fault, bounded.

    ``sent`` is the last line that the bot got, ``received`` what it wrote since;
    ``move_ms`` and ``bank_ms`` are the clock it had for the decision (at the start:
    ``start_ms`` and 0), ``charge`` what the thought had cost when it ended;
    ``memory_peak`` is in bytes, ``stderr`` its last 64 KiB. ``decision`` and ``ply``
    are None before the first question.
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
