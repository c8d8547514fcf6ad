"""Choose the lines of a validation's log that say most about a failure."""

import re
from itertools import takewhile

MAX_LINES = 12
MAX_CHARS = 200
# Compilers and interpreters of all languages write one of these words.
COMPLAINT = re.compile(
    r"\berror\b|\w(Error|Exception)\b|\bpanicked\b|\bpanic:|\bfatal\b", re.IGNORECASE
)


def telling_lines(log: str, cure: str = "") -> list[str]:
    """Return at most `MAX_LINES` lines: evidence, complaints, or the end of the log.

    The log of a finding has its `cure` in a line, and then its evidence: one line, and
    indented ones that belong to it. Otherwise these are the lines in which a compiler
    or an interpreter complains.
    """
    lines = [line[:MAX_CHARS] for line in log.splitlines() if line.strip()]
    evidence = _evidence(lines, cure[:MAX_CHARS])
    complaints = [line for line in lines if COMPLAINT.search(line)]
    return (evidence or complaints)[:MAX_LINES] or lines[-MAX_LINES:]


def _evidence(lines: list[str], cure: str) -> list[str]:
    if not cure or cure not in lines:
        return []
    rest = lines[lines.index(cure) + 1 :]
    return [*rest[:1], *takewhile(lambda line: line.startswith("  "), rest[1:])]
