"""Logs the requests that made the service fail, without their bodies and tokens."""

import logging

import structlog

MAX_TEXT_LENGTH = 500
MAX_TRACE_LENGTH = 8000

log = structlog.get_logger()


class FailureHandler(logging.Handler):
    """Turns Django's record of a failed request into one JSON line on stderr."""

    _formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        # A message of an exception may quote what a stranger sent.
        trace = (
            self._formatter.formatException(record.exc_info) if record.exc_info else ""
        )
        request = getattr(record, "request", None)
        log.error(
            "a request failed",
            method=str(getattr(request, "method", ""))[:MAX_TEXT_LENGTH],
            # Without the query, which may hold a secret.
            path=str(getattr(request, "path", ""))[:MAX_TEXT_LENGTH],
            status=getattr(record, "status_code", None),
            exception=trace[-MAX_TRACE_LENGTH:],
        )
