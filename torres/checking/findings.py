"""A finding: one mistake of a bot, with its cause and its cure."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """A fault loses games on the ladder; a warning may."""

    FAULT = "fault"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake of a bot.

    ``code`` is a name for programs. ``cause`` and ``cure`` are one sentence each, which
    everybody may read. ``evidence`` may quote the bot and its output, so it is for its
    owner only. ``where`` names the games in which it happened; "" for all.
    """

    code: str
    severity: Severity
    cause: str
    cure: str
    evidence: str = ""
    where: str = ""


def fault(code: str, cause: str, cure: str, evidence: str = "") -> Finding:
    """Return a finding that loses games."""
    return Finding(code, Severity.FAULT, cause, cure, evidence)


def warning(code: str, cause: str, cure: str, evidence: str = "") -> Finding:
    """Return a finding that may lose games."""
    return Finding(code, Severity.WARNING, cause, cure, evidence)
