"""Alarms: the service reports each problem once, and its end once."""

import json
import smtplib
import threading

import pytest
from django.core import mail
from pytest_django import Settings
from structlog.testing import capture_logs

from ladder.health import alarms, monitor, signs
from ladder.health.alarms import Alarm, AlarmBook
from ladder.health.monitor import Monitor
from ladder.health.signs import Sign
from tests.webhooks.factories import receiver, receiver_that_is_down, url_of

GOOD = Sign("broker")
BAD = Sign("broker", "It is away.", "Start it.")
ALARM = Alarm("broker", True, "It is away.", "Start it.", "2026-11-23T06:00:00Z")


def events(book: AlarmBook, *looks: list[Sign]) -> list[tuple[str, bool]]:
    found = [alarm for signs in looks for alarm in book.changes(signs)]
    return [(alarm.part, alarm.raised) for alarm in found]


def test_a_problem_is_told_once_and_so_is_its_end() -> None:
    looks = [[GOOD], [BAD], [BAD], [BAD], [GOOD], [GOOD]]

    assert events(AlarmBook(), *looks) == [("broker", True), ("broker", False)]


def test_a_short_interruption_is_no_alarm() -> None:
    assert events(AlarmBook(), [BAD], [GOOD], [BAD], [GOOD]) == []


def test_an_alarm_lasts_while_nothing_is_known_about_the_part() -> None:
    """The parts that report through the database have no sign without it."""
    assert events(AlarmBook(), [BAD], [BAD], [], [BAD]) == [("broker", True)]


def test_the_text_says_what_to_do() -> None:
    assert ALARM.text().startswith("It is away.\nStart it.\n")
    assert ALARM.subject() == "[Torres ladder] ALARM: broker"


def test_an_alarm_is_logged_mailed_and_posted(settings: Settings) -> None:
    settings.TORRES_ALARM_MAIL = ["ops@example.org"]
    with receiver() as there, capture_logs() as logged:
        settings.TORRES_ALARM_URL = there.url
        alarms.send(ALARM)
    body = json.loads(there.got[0].body)

    assert [entry["event"] for entry in logged] == ["alarm"]
    assert [(m.to, m.subject) for m in mail.outbox] == [
        (["ops@example.org"], ALARM.subject())
    ]
    assert (body["part"], body["raised"], body["advice"]) == (
        "broker",
        True,
        "Start it.",
    )
    assert body["text"].startswith(ALARM.subject())


def test_a_way_that_fails_stops_no_other_and_tells_no_secret(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected("no mail server")

    monkeypatch.setattr(alarms, "send_mail", refused)
    settings.TORRES_ALARM_MAIL = ["ops@example.org"]
    with receiver_that_is_down() as port, capture_logs() as logged:
        settings.TORRES_ALARM_URL = url_of(port) + "?key=secret-of-a-chat"
        alarms.send(ALARM)

    assert [entry["event"] for entry in logged] == [
        "alarm",
        "an alarm was not mailed",
        "an alarm was not posted",
    ]
    assert "secret-of-a-chat" not in str(logged)


@pytest.mark.django_db
def test_the_monitor_sees_a_web_server_that_is_down(data_dir: object) -> None:
    with receiver_that_is_down() as port:
        seen = Monitor([f"http://127.0.0.1:{port}"]).look()

    (web,) = [sign for sign in seen if sign.part.startswith("web server")]
    assert "does not answer" in web.problem
    assert signs.Sign("totals") in seen


@pytest.mark.django_db
def test_no_error_ends_the_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    looks = []

    def look() -> list[Sign]:
        looks.append(1)
        if len(looks) == 3:
            stop.set()
        raise RuntimeError("a mistake in a look")

    monkeypatch.setattr(signs, "look", look)
    monkeypatch.setattr(monitor, "INTERVAL_S", 0.01)
    with capture_logs():
        Monitor([]).run(stop)

    assert len(looks) == 3
