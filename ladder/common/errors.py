"""Refusals that a person reads: each has a code, a status and says what to do next."""


class LadderError(Exception):
    """A refusal with a stable code; the API and the commands print it as it is.

    ``code`` names the kind (kebab case, part of the API's problem type) and
    ``http_status`` is what the REST handler answers. The message is one sentence
    for the person who caused it: what was wrong, and what to do next.
    """

    code = "error"
    http_status = 400


class TooMany(LadderError):
    """A quota is used up; ``retry_after`` says in seconds when it is not, if ever."""

    code, http_status = "too-many", 429

    def __init__(self, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
