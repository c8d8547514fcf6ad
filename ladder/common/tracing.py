"""Traces of OpenTelemetry: what happened to an upload or a match, in all processes.

Traces are off unless the settings name a collector. Then no module of OpenTelemetry is
imported, and all spans are one object that does nothing.

The context of a trace is in the rows of uploads and matches, as a W3C traceparent: a
message to a worker is only a hint, which may be lost, late or doubled.
"""

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import psycopg
import structlog
from django.conf import settings

from ladder.common.spans import PRESENT, Attributes, Span, SpanKind

if TYPE_CHECKING:
    from ladder.common.trace_export import TraceWriter

MAX_TRACEPARENT_CHARS = 55

log = structlog.get_logger()


class NoSpan:
    """The span of everything while traces are off."""

    traceparent = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self, attributes: Attributes) -> None:
        """Drop the attributes."""

    def rename(self, name: str) -> None:
        """Drop the name."""

    def fail(self, error_type: str) -> None:
        """Drop the failure."""


NO_SPAN = NoSpan()
_opening = Lock()
_writers: "list[TraceWriter | None]" = []


def is_on() -> bool:
    """True if spans are recorded. Ask before you read rows only for a span."""
    return _writer() is not None


def now_ns() -> int:
    """Return the present moment for the begin of a span; 0 if traces are off."""
    return time.time_ns() if is_on() else 0


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    parent: str = PRESENT,
    links: Iterable[str] = (),
    kind: SpanKind = SpanKind.INTERNAL,
    began_ns: int | None = None,
) -> AbstractContextManager[Span]:
    """Return a span for the code inside a `with` statement.

    `parent` is a traceparent, "" for a new trace, or PRESENT. `links` are traceparents
    of what is related without being the cause. Meanwhile the span is the present one of
    this thread, and each statement of the database is a span, too.
    """
    writer = _writer()
    if writer is None:
        return NO_SPAN
    return writer.span(
        name, attributes, parent=parent, links=links, kind=kind, began_ns=began_ns
    )


def record(
    name: str,
    attributes: Attributes | None = None,
    *,
    parent: str = PRESENT,
    links: Iterable[str] = (),
    began_ns: int | None = None,
    ended_ns: int | None = None,
) -> str:
    """Record a span that is over, or a moment; return its traceparent."""
    writer = _writer()
    if writer is None:
        return ""
    recorded = writer.span(
        name, attributes, parent=parent, links=links, began_ns=began_ns
    )
    recorded.end(ended_ns)
    return recorded.traceparent


def present() -> str:
    """Return the traceparent of the present span; "" without one."""
    writer = _writer()
    return "" if writer is None else writer.present()


def cursor_class() -> type[psycopg.Cursor[Any]]:
    """Return the class of psycopg's cursors that records statements if it has to."""
    writer = _writer()
    return psycopg.Cursor if writer is None else writer.cursor_class()


def close() -> None:
    """Send the last spans, which otherwise happens when the interpreter ends."""
    for writer in _writers:
        if writer is not None:
            writer.close()


def _writer() -> "TraceWriter | None":
    if not settings.TRACES:
        return None
    if not _writers:
        with _opening:
            if not _writers:
                _writers.append(_open())
    return _writers[0]


def _open() -> "TraceWriter | None":
    # Imported here, because the import alone takes 0.1 s and most services need none.
    try:
        from ladder.common.trace_export import TraceWriter  # noqa: PLC0415

        return TraceWriter()
    except Exception:  # whatever the variables of OpenTelemetry say, the service works
        log.exception(
            "traces are off",
            advice="Correct the variables that begin with OTEL_, and restart.",
        )
        return None
