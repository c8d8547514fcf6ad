"""The words of a trace, which the modules with and without OpenTelemetry share."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

Attributes = Mapping[str, str | int | float | bool]
"""The attributes of a span, by names such as `torres.game`, or of OpenTelemetry."""
PRESENT = "present"
"""The parent of a span that belongs to the present span of this thread."""


class SpanKind(StrEnum):
    """The part that a span has in a conversation of two processes."""

    INTERNAL = "internal"
    SERVER = "server"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class Span(Protocol):
    """One step of a trace. Leave it with an exception to mark it as failed."""

    @property
    def traceparent(self) -> str:
        """The context for spans of other processes; "" if traces are off."""

    def describe(self, attributes: Attributes) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, error_type: str) -> None:
        """Mark the step as failed, without the text of an error: it may be secret."""
