"""The base of all errors that a person reads."""


class LadderError(Exception):
    """A refusal with a stable code. The API and the commands show its message.

    ``code`` names the kind in kebab case; it is part of the API's problem type.
    ``http_status`` is the status of the API's answer. The message tells the person who
    caused the error what was wrong, and what to do next.
    """

    code = "error"
    http_status = 400


class TooMany(LadderError):
    """A quota is used up.

    ``retry_after`` is the time in seconds after which a new attempt can succeed. It is
    None if waiting does not help.
    """

    code = "too-many"
    http_status = 429

    def __init__(self, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(Exception):
    """Another process wrote first. The caller reads the new rows and tries again."""
