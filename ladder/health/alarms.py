"""Alarms: tell operators once when a part gets a problem, and once when it is over.

An alarm is always a line in the log. By setting it is also a mail and a POST request.
"""

import json
import urllib.request
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from urllib.error import URLError

import structlog
from django.conf import settings
from django.core.mail import send_mail

from ladder.health.signs import Sign

CONFIRMATIONS = 2
"""A problem must be seen this often in succession: a restart takes a moment."""
POST_TIMEOUT_S = 10.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Alarm:
    """One message: a part got a problem (`raised`), or the problem is over.

    `at` is an RFC 3339 time. `problem` and `advice` are those of the raised alarm.
    """

    part: str
    raised: bool
    problem: str
    advice: str
    at: str

    def subject(self) -> str:
        state = "ALARM" if self.raised else "over"
        return f"[Torres ladder] {state}: {self.part}"

    def text(self) -> str:
        if self.raised:
            return f"{self.problem}\n{self.advice}\n\nSince {self.at}.\n"
        return f"This problem is over since {self.at}:\n{self.problem}\n"


class AlarmBook:
    """Remembers which alarms are raised, and finds what has changed."""

    def __init__(self) -> None:
        self._raised: dict[str, Sign] = {}
        self._seen: dict[str, int] = {}
        """The number of looks in succession that saw a problem, by part."""

    def changes(self, signs: list[Sign]) -> list[Alarm]:
        """Take one look at all parts; return the alarms to send.

        A part without a sign keeps its state, because nothing is known about it.
        """
        alarms = []
        for sign in signs:
            if sign.is_good:
                self._seen.pop(sign.part, None)
                if over := self._raised.pop(sign.part, None):
                    alarms.append(_alarm(over, raised=False))
                continue
            self._seen[sign.part] = self._seen.get(sign.part, 0) + 1
            is_new = sign.part not in self._raised
            if is_new and self._seen[sign.part] >= CONFIRMATIONS:
                self._raised[sign.part] = sign
                alarms.append(_alarm(sign, raised=True))
        return alarms

    def raised(self) -> list[str]:
        """Return the parts whose alarm is raised."""
        return sorted(self._raised)


def _alarm(sign: Sign, *, raised: bool) -> Alarm:
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Alarm(sign.part, raised, sign.problem, sign.advice, at)


def send(alarm: Alarm) -> None:
    """Log an alarm, mail it, and post it. If one fails, the others still run."""
    if alarm.raised:
        log.error("alarm", part=alarm.part, problem=alarm.problem, advice=alarm.advice)
    else:
        log.warning("alarm over", part=alarm.part, problem=alarm.problem)
    if settings.TORRES_ALARM_MAIL:
        _mail(alarm)
    if settings.TORRES_ALARM_URL:
        _post(alarm)


def _mail(alarm: Alarm) -> None:
    try:
        send_mail(alarm.subject(), alarm.text(), None, settings.TORRES_ALARM_MAIL)
    except OSError as error:  # smtplib's errors are OSErrors, too
        log.warning("an alarm was not mailed", part=alarm.part, error=str(error))


def _post(alarm: Alarm) -> None:
    """Post the alarm as JSON. `text` is what chat services show."""
    body = asdict(alarm) | {"text": f"{alarm.subject()}\n{alarm.text()}"}
    request = urllib.request.Request(  # noqa: S310 -- the settings check the scheme
        settings.TORRES_ALARM_URL,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "User-Agent": "torres-ladder"},
    )
    try:
        with urllib.request.urlopen(request, timeout=POST_TIMEOUT_S):  # noqa: S310
            pass
    except (URLError, OSError, ValueError) as error:
        # The address may hold a secret, and the error may hold the address.
        log.warning(
            "an alarm was not posted", part=alarm.part, error=type(error).__name__
        )
