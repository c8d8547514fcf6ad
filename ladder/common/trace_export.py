"""Sends spans to a collector. It is imported only if traces are on.

Nothing here may disturb the service. Spans wait in a bounded queue, from which a thread
takes them; if it is full, spans are dropped. A process that ends gives the collector
EXIT_TIMEOUT_S for the last ones. The SDK's own way waits half a minute for a collector
that does not answer.
"""

import atexit
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
import structlog
from django.db import connection
from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import SpanContext, StatusCode
from opentelemetry.trace.propagation.tracecontext import (
    TraceContextTextMapPropagator,
)

from ladder.common.spans import PRESENT, Attributes, SpanKind

EXIT_TIMEOUT_S = 2.0
WARNING_INTERVAL_S = 60.0
MAX_STATEMENT_CHARS = 2000
UNKNOWN_SERVICE = "unknown_service"
TRACEPARENT = "traceparent"
TABLE = re.compile(r'\b(?:COPY|FROM|INTO|UPDATE)\s+"?(\w+)', re.IGNORECASE)
SYSTEMS = {"postgresql": "postgresql", "sqlite": "sqlite"}
KINDS = {kind: trace.SpanKind[kind.name] for kind in SpanKind}

T = TypeVar("T")
log = structlog.get_logger()
_propagator = TraceContextTextMapPropagator()


class RecordedSpan:
    """A span that is recorded, or that the sampler has left out."""

    def __init__(self, span: trace.Span, tracer: trace.Tracer) -> None:
        self._span = span
        self._tracer = tracer
        self._is_outermost = False

    @property
    def traceparent(self) -> str:
        return _traceparent(self._span)

    def describe(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, error_type: str) -> None:
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(StatusCode.ERROR)

    def end(self, ended_ns: int | None = None) -> None:
        self._span.end(ended_ns)

    def __enter__(self) -> Self:
        self._token = attach(trace.set_span_in_context(self._span))
        wrappers = connection.execute_wrappers
        is_inside = any(isinstance(w, StatementTracer) for w in wrappers)
        self._is_outermost = self._span.is_recording() and not is_inside
        if self._is_outermost:
            wrappers.append(StatementTracer(self._tracer))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_outermost:
            wrappers = connection.execute_wrappers
            wrappers[:] = [w for w in wrappers if not isinstance(w, StatementTracer)]
        if kind is not None:
            self.fail(kind.__qualname__)
        detach(self._token)
        self._span.end()


class StatementTracer:
    """Records the statements of Django's cursors. Values are never recorded."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def __call__(
        self,
        execute: Callable[..., T],
        sql: str,
        params: object,
        many: bool,  # noqa: FBT001 -- Django passes it so
        context: object,
    ) -> T:
        with self.statement(str(sql)):
            return execute(sql, params, many, context)

    @contextmanager
    def statement(self, sql: str) -> Iterator[None]:
        operation = sql.lstrip(" (").partition(" ")[0].upper()
        table = TABLE.search(sql)
        name = f"{operation} {table[1]}" if table else operation
        attributes = {
            "db.system.name": SYSTEMS.get(connection.vendor, "other_sql"),
            "db.operation.name": operation,
            "db.query.text": sql[:MAX_STATEMENT_CHARS],
        }
        with self._tracer.start_as_current_span(
            name, kind=trace.SpanKind.CLIENT, attributes=attributes
        ):
            yield


class TraceWriter:
    """Makes spans, as the variables of OpenTelemetry say, and sends them."""

    def __init__(self) -> None:
        provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        exporter = PatientExporter(OTLPSpanExporter())
        provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = provider.get_tracer("torres-ladder", version("torres-ladder"))
        statements = StatementTracer(self._tracer)

        class TracedCursor(psycopg.Cursor[Any]):
            def execute(self, query: Any, *args: Any, **options: Any) -> Self:  # noqa: ANN401 -- psycopg has overloads
                with statements.statement(str(query)):
                    return super().execute(query, *args, **options)

            @contextmanager
            def copy(self, statement: Any, *args: Any, **options: Any) -> Iterator[Any]:  # noqa: ANN401
                with (
                    statements.statement(str(statement)),
                    super().copy(statement, *args, **options) as rows,
                ):
                    yield rows

        self._traced_cursor = TracedCursor
        closer = _Closer(provider)
        closer.start()
        self.close = closer.close
        atexit.register(self.close)

    def span(
        self,
        name: str,
        attributes: Attributes | None,
        *,
        parent: str,
        links: Iterable[str],
        kind: SpanKind = SpanKind.INTERNAL,
        began_ns: int | None = None,
    ) -> RecordedSpan:
        """Start a span, which is not the present one until it is entered."""
        started = self._tracer.start_span(
            name,
            context=None if parent == PRESENT else _context(parent),
            kind=KINDS[kind],
            attributes=attributes,
            links=[trace.Link(found) for each in links if (found := _remote(each))],
            start_time=began_ns or None,
        )
        return RecordedSpan(started, self._tracer)

    def present(self) -> str:
        return _traceparent(trace.get_current_span())

    def cursor_class(self) -> type[psycopg.Cursor[Any]]:
        is_recording = trace.get_current_span().is_recording()
        return self._traced_cursor if is_recording else psycopg.Cursor


class PatientExporter(SpanExporter):
    """Passes spans on, and says once a minute if the collector does not take them."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._lost = 0
        self._warned_at = float("-inf")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._lost += len(spans)
            if time.monotonic() - self._warned_at >= WARNING_INTERVAL_S:
                self._warned_at = time.monotonic()
                log.warning(
                    "the collector does not take traces",
                    lost_spans=self._lost,
                    advice="Start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Nothing"
                    " else depends on it.",
                )
        elif self._lost:
            log.info("the collector takes traces again", lost_spans=self._lost)
            self._lost = 0
            self._warned_at = float("-inf")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Closer(threading.Thread):
    """Sends the last spans when the process ends.

    It waits from the beginning, because no thread can be started at the exit.
    """

    def __init__(self, provider: TracerProvider) -> None:
        super().__init__(name="end of traces", daemon=True)
        self._provider = provider
        self._closing = threading.Event()

    def run(self) -> None:
        self._closing.wait()
        self._provider.shutdown()

    def close(self) -> None:
        """Send what waits, but not for longer than EXIT_TIMEOUT_S. Idempotent."""
        self._closing.set()
        self.join(EXIT_TIMEOUT_S)


def _resource() -> Resource:
    """Return what all spans of this process say, OTEL_RESOURCE_ATTRIBUTES included."""
    own: dict[str, str | int] = {
        "service.version": version("torres-ladder"),
        "host.name": socket.gethostname(),
        "process.pid": os.getpid(),
    }
    resource = Resource(own).merge(Resource.create())
    if str(resource.attributes[SERVICE_NAME]).startswith(UNKNOWN_SERVICE):
        return resource.merge(Resource({SERVICE_NAME: _service_name()}))
    return resource


def _service_name() -> str:
    """Return the name of a part: of `manage.py serve` torres-serve."""
    program = Path(sys.argv[0]).stem
    if program == "manage" and len(sys.argv) > 1:
        return f"torres-{sys.argv[1]}"
    return "torres-worker" if program in ("celery", "__main__") else f"torres-{program}"


def _context(traceparent: str) -> Context:
    """Return the context of a parent; one without a span if there is none."""
    return _propagator.extract({TRACEPARENT: traceparent}, Context())


def _remote(traceparent: str) -> SpanContext | None:
    found = trace.get_current_span(_context(traceparent)).get_span_context()
    return found if found.is_valid else None


def _traceparent(span: trace.Span) -> str:
    carrier: dict[str, str] = {}
    _propagator.inject(carrier, trace.set_span_in_context(span))
    return carrier.get(TRACEPARENT, "")
