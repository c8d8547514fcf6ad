"""People who follow something, and a service that sends mail."""

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMessage
from pytest_django import Settings

from ladder.extras.follows import daily_mail, services
from ladder.extras.follows.models import DailyMail, Followable
from tests.factories import Show, everything

SITE = "https://ladder.example.org/"


@pytest.fixture
def show(db: None, data_dir: object) -> Show:
    """A ladder with a finished game of two bots."""
    return everything()


@pytest.fixture
def sends_mail(settings: Settings) -> None:
    settings.TORRES_SENDS_MAIL = True
    settings.DEFAULT_FROM_EMAIL = "ladder@example.org"


def reader(name: str, *subjects: Followable) -> User:
    """Return a person who follows something, and has got a first look at its state."""
    user = User.objects.create(username=name, email=f"{name}@example.org")
    for subject in subjects:
        services.follow(user, subject)
    services.start_daily_mail(user, SITE)
    assert run() == []
    return user


def run() -> list[EmailMessage]:
    """Run the job, and return the mails that it sent."""
    before = len(getattr(mail, "outbox", []))
    sent = daily_mail.send_due()
    new = list(mail.outbox[before:])
    assert len(new) == sent
    return new


def a_day_passes() -> None:
    DailyMail.objects.update(due_at="2020-01-01T00:00:00Z")
