"""Logs the requests that made the service fail, without their bodies and tokens."""

import logging

import structlog

MAX_TEXT_LENGTH = 500

log = structlog.get_logger()


class FailureHandler(logging.Handler):
    """Turns Django's record of a failed request into one JSON line on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        request = getattr(record, "request", None)
        log.error(
            "a request failed",
            method=str(getattr(request, "method", ""))[:MAX_TEXT_LENGTH],
            # Without the query, which may hold a secret.
            path=str(getattr(request, "path", ""))[:MAX_TEXT_LENGTH],
            status=getattr(record, "status_code", None),
            exc_info=record.exc_info,
        )
