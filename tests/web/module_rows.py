"""Rows that all tests of a module share, because creating them is slow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker


@contextmanager
def module_rows(blocker: DjangoDbBlocker, data: Path) -> Iterator[None]:
    """Keep what is written inside until the end of the module, then roll it back.

    Requests are not limited. Each test runs in a transaction of its own inside.
    """
    bots = settings.STORAGES["bots"] | {"OPTIONS": {"location": data / "submissions"}}
    with (
        blocker.unblock(),
        override_settings(
            DATA_DIR=data,
            STORAGES=settings.STORAGES | {"bots": bots},
            TORRES_RATE_ANONYMOUS=10**9,
            TORRES_RATE_TOKEN=10**9,
            TORRES_RATE_USER=10**9,
            TORRES_RATES=dict.fromkeys(settings.TORRES_RATES, 10**9),
        ),
        transaction.atomic(),
    ):
        yield
        transaction.set_rollback(True)
