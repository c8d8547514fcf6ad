"""Why a seat lost its say, told to the owner of the bot."""

from dataclasses import dataclass

from ladder.runner.clock import Charge
from ladder.runner.sandbox.api import Exit

KEPT_BYTES = 65_536


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
