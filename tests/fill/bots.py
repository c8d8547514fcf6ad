"""Add made-up owners, bots and submissions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User

from ladder.bots.models import Bot, Submission
from tests.fill.rows import RowWriter, first_free_id
from torres.common.names import name_key

BOTS_PER_OWNER = 2
UPLOADS_PER_BOT = 3
REPORT = {"summary": "Made up by manage.py fill. It has no files.", "steps": []}

Status = Submission.Status


@dataclass(frozen=True, slots=True)
class Upload:
    """A submission that plays: its id and its digest."""

    submission: int
    digest: str


@dataclass(slots=True)
class FilledBot:
    """A bot with its uploads in the order of their numbers; the last one is ready."""

    bot: int
    uploads: list[Upload]


def house_bots() -> list[FilledBot]:
    """Return the house bots with the upload that plays."""
    ready = Submission.objects.filter(bot__house=True, status=Status.READY)
    return [
        FilledBot(row.bot_id, [Upload(row.pk, row.digest)])
        for row in ready.order_by("bot")
    ]


def add_bots(count: int, rng: Random, started: datetime) -> list[FilledBot]:
    """Write bots, each with one owner and three uploads: retired, retired, ready."""
    first_owner = first_free_id(User)
    first_bot = first_free_id(Bot)
    owners = RowWriter(User, "id", "username", "is_active", "password", "date_joined")
    bots = RowWriter(Bot, "id", "slug", "name", "name_key", "owner_id", "created_at")
    uploads = _upload_writer()
    add_upload = _upload_adder(uploads, rng, started)
    filled = []
    for number in range(count):
        owner = first_owner + number // BOTS_PER_OWNER
        if number % BOTS_PER_OWNER == 0:
            owners.add(owner, f"author-{owner}", True, "!", started)
        bot = first_bot + number
        name = f"Bot {bot}"
        bots.add(bot, f"bot-{bot}", name, name_key(name), owner, started)
        filled.append(FilledBot(bot, [add_upload(bot, k) for k in (1, 2, 3)]))
    for writer in (owners, bots, uploads):
        writer.flush()
    return filled


def _upload_writer() -> RowWriter:
    return RowWriter(
        Submission,
        "id",
        "bot_id",
        "number",
        "digest",
        "status",
        "language",
        "entry",
        "size",
        "report",
        "created_at",
        "ready_at",
    )


def _upload_adder(
    uploads: RowWriter, rng: Random, started: datetime
) -> Callable[[int, int], Upload]:
    first = first_free_id(Submission)

    def add(bot: int, number: int) -> Upload:
        upload = Upload(first + len(uploads), f"{rng.getrandbits(256):064x}")
        status = Status.READY if number == UPLOADS_PER_BOT else Status.RETIRED
        at = started + timedelta(minutes=number)
        values: list[Any] = [status, "python", "bot.py", 900, REPORT, at, at]
        uploads.add(upload.submission, bot, number, upload.digest, *values)
        return upload

    return add
