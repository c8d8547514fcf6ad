"""The base of all errors that a person reads."""

from collections.abc import Sequence
from typing import NamedTuple


class LadderError(Exception):
    """A refusal with a stable code. The API and the commands show its message.

    Each kind names them in its class statement. ``code`` is in kebab case; it is part
    of the API's problem type. ``http_status`` is the status of the API's answer. The
    message tells the person who caused the error what was wrong, and what to do next.
    """

    code = "error"
    http_status = 400

    def __init_subclass__(cls, code: str = "", http_status: int = 0) -> None:
        cls.code = code or cls.code
        cls.http_status = http_status or cls.http_status


class FieldProblem(NamedTuple):
    """A mistake in one field of a document, and what would be right there."""

    field: str
    detail: str


class BadFields(LadderError, code="invalid", http_status=422):
    """Some fields of a document are wrong; the message names all of them.

    Each of ``texts`` starts with the field: "limits: move_ms: 0; it must be …".
    """

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__("; ".join(texts))
        self.problems = tuple(_field_problem(text) for text in texts)


def _field_problem(text: str) -> FieldProblem:
    field, separator, detail = text.partition(": ")
    return FieldProblem(field, detail) if separator else FieldProblem("body", text)


class TooMany(LadderError, code="too-many", http_status=429):
    """A quota is used up.

    ``retry_after`` is the time in seconds after which a new attempt can succeed. It is
    None if waiting does not help.
    """

    def __init__(self, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(Exception):
    """Another process wrote first. The caller reads the new rows and tries again."""
