"""Reading the limits of a bot from a document that a person wrote.

A match copies its limits from a ladder or a tournament, so a wrong one would make each
of its games fail. Every place that accepts limits uses `read_limits`.
"""

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType

from torres.common.errors import LadderError
from torres.common.quoting import quoted
from torres.runner.protocol import Limits

MAX_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "memory_mb": 65_536,
        "pids": 4_096,
        "tmp_mb": 16_384,
        "line_bytes": 16_777_216,
        "output_bytes": 1_073_741_824,
        "start_ms": 600_000,
        "move_ms": 600_000,
        "bank_ms": 3_600_000,
    }
)
"""The largest value of each limit, in its unit. The smallest one is 1."""


class BadLimits(LadderError, code="bad-limits", http_status=422):
    """The limits cannot be used; the message says which key to change."""


def read_limits(document: object, *, partial: bool = False) -> Limits:
    """Return the limits in a JSON or TOML document. Raises BadLimits.

    With ``partial`` missing keys have their default values; otherwise they are an
    error, because a stored match needs all of them.
    """
    names = ", ".join(MAX_LIMITS)
    if not isinstance(document, Mapping):
        raise BadLimits(
            f"limits: {quoted(document)}; it must be an object with the keys {names}"
        )
    for name, value in document.items():
        if name not in MAX_LIMITS:
            raise BadLimits(
                f"limits: unknown key: {quoted(name)}; the keys are {names}"
            )
        # Not isinstance: True is an int in Python, but not in TOML or JSON.
        if type(value) is not int or not 1 <= value <= MAX_LIMITS[name]:
            raise BadLimits(
                f"limits: {name}: {quoted(value)}; it must be a whole number from 1 to"
                f" {MAX_LIMITS[name]}"
            )
    missing = [name for name in asdict(Limits()) if name not in document]
    if missing and not partial:
        raise BadLimits(f"limits: missing: {', '.join(missing)}; give all of {names}")
    return Limits(**document)
