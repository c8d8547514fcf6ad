"""A collector of traces: a real server of OTLP over HTTP that keeps what it gets."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

ERROR = 2  # Status.STATUS_CODE_ERROR


@dataclass(frozen=True)
class CollectedSpan:
    """A span as it came over the wire; times in ns. `links` are ids of spans."""

    name: str
    trace: str
    id: str
    parent: str
    service: str
    began: int
    ended: int
    failed: bool
    attributes: dict[str, Any]
    links: list[str] = field(default_factory=list)


class Collector:
    """The spans of all requests so far."""

    def __init__(self) -> None:
        self.url = ""
        self.requests = 0
        self._spans: list[CollectedSpan] = []
        self._lock = threading.Lock()

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self._lock:
            self.requests += 1
            self._spans += _spans_in(request)

    def spans(self, name: str = "") -> list[CollectedSpan]:
        """Return all spans, or those with a name, in the order of their begin."""
        with self._lock:
            found = [span for span in self._spans if name in ("", span.name)]
        return sorted(found, key=lambda span: span.began)

    def trace_of(self, span: CollectedSpan) -> dict[str, list[CollectedSpan]]:
        """Return the spans of the same trace by their names."""
        named = defaultdict(list)
        for each in self.spans():
            if each.trace == span.trace:
                named[each.name].append(each)
        return named

    def path(self, span: CollectedSpan) -> list[str]:
        """Return the names from the root of the trace to a span."""
        by_id = {each.id: each for each in self.spans()}
        names = [span.name]
        while span.parent:
            span = by_id[span.parent]
            names.insert(0, span.name)
        return names


def _spans_in(request: ExportTraceServiceRequest) -> Iterator[CollectedSpan]:
    for resource in request.resource_spans:
        service = _values(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield CollectedSpan(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    service=service,
                    began=span.start_time_unix_nano,
                    ended=span.end_time_unix_nano,
                    failed=span.status.code == ERROR,
                    attributes=_values(span.attributes),
                    links=[link.span_id.hex() for link in span.links],
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value"))
        for each in attributes
    }


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Run a collector on a free port."""
    collector = Collector()

    class TraceRoute(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_ours = self.path == "/v1/traces"
            if is_ours:
                collector.take(body)
            self.send_response(HTTPStatus.OK if is_ours else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), TraceRoute)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
