"""Logs for operators: one JSON line for each event, on stderr.

Records of other libraries (Django, Celery, uvicorn) become the same lines, and so do
failures of threads and commands. Bodies, queries and tokens of requests are not logged.
"""

import logging
import re
import threading

import structlog
from structlog.typing import EventDict

MAX_TEXT_LENGTH = 500
MAX_TRACE_LENGTH = 8000
# Tokens of this service, bearer headers, and passwords in the URLs of servers.
_SECRETS = re.compile(
    r"torres_[\w-]{20,}|(?<=Bearer )\S+|(?<=://)[^\s/@]*:[^\s/@]*(?=@)", re.IGNORECASE
)
_formatter = logging.Formatter()

log = structlog.get_logger()


class LogLines(logging.Handler):
    """Turns the records of other libraries into JSON lines."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # the arguments do not fit the message
            text = str(record.msg)
        log.log(
            record.levelno,
            without_secrets(text)[:MAX_TEXT_LENGTH],
            logger=record.name,
            **trace_of(record),
        )


def trace_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the traceback of a record as the field "exception", if it has one."""
    if not record.exc_info or record.exc_info[0] is None:
        return {}
    trace = without_secrets(_formatter.formatException(record.exc_info))
    return {"exception": trace[-MAX_TRACE_LENGTH:]}


def without_secrets(text: str) -> str:
    """Replace tokens and passwords in a text, for example in an error message."""
    return _SECRETS.sub("[secret]", text)


def log_failures_of_threads() -> None:
    """Log the exception that ends a thread as a JSON line."""
    threading.excepthook = _log_failure_of_thread


def _log_failure_of_thread(failure: threading.ExceptHookArgs) -> None:
    if failure.exc_type is SystemExit:
        return
    log.critical(
        "a thread failed",
        thread=failure.thread.name if failure.thread else "",
        exc_info=(failure.exc_type, failure.exc_value, failure.exc_traceback),
    )


def hide_secrets(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Take secrets out of the texts of an event (a processor of structlog)."""
    return {
        name: without_secrets(value) if isinstance(value, str) else value
        for name, value in event.items()
    }
