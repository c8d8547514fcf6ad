"""Logs the requests that made the service fail, without their bodies and tokens."""

import logging

import structlog

from ladder.common.logs import MAX_TEXT_LENGTH, trace_of

log = structlog.get_logger()


class FailureHandler(logging.Handler):
    """Turns Django's record of a failed request into one JSON line on stderr.

    The line has the id of the request, which the response contains, too.
    """

    def emit(self, record: logging.LogRecord) -> None:
        request = getattr(record, "request", None)
        log.error(
            "a request failed",
            method=str(getattr(request, "method", ""))[:MAX_TEXT_LENGTH],
            # Without the query, which may hold a secret.
            path=str(getattr(request, "path", ""))[:MAX_TEXT_LENGTH],
            status=getattr(record, "status_code", None),
            request_id=getattr(request, "request_id", None),
            **trace_of(record),
        )
