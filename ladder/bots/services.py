"""What may happen to bots and submissions; one function for each event.

Services write rows and files and send nothing: whoever calls `submit` sends the build.
"""

import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now
from django.utils.text import slugify

from ladder.bots import selectors
from ladder.bots.models import OPEN, Bot, Submission
from ladder.bots.upload import archive, checks
from ladder.common.errors import LadderError, TooMany
from ladder.runner import languages
from ladder.runner.sandbox import Program

HOUSE = Path(__file__).parent / "house"
HOUSE_PREFIX = "house-"
RESERVED = {"new", "house"}
LEASE = timedelta(seconds=90)
"""Longer than any step of a trial that says nothing: a start, or one thought."""


class BadName(LadderError):
    code, http_status = "bad-name", 400


class NameTaken(LadderError):
    code, http_status = "name-taken", 409


class NotActive(LadderError):
    code, http_status = "bot-not-active", 409


class LostClaim(Exception):
    """Somebody else tries the submission, or it was settled: stop, write nothing."""


# Bots


def create_bot(owner: User, name: str) -> Bot:
    """Create a bot; its slug is derived from its name and never changes."""
    name = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(name) <= 64 or not name.isprintable():
        raise BadName("A name has 1 to 64 printable characters. Choose another.")
    slug = slugify(name) or f"bot-{secrets.token_hex(3)}"
    if slug in RESERVED or slug.startswith(HOUSE_PREFIX):
        raise NameTaken(f"The name {slug} is reserved. Choose another name.")
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        if owner.bots.count() >= settings.TORRES_BOTS_PER_OWNER:
            raise TooMany(
                f"You have {settings.TORRES_BOTS_PER_OWNER} bots, the most that one"
                " person may have. Upload to one of them instead."
            )
        bot, created = Bot.objects.get_or_create(
            slug=slug, defaults={"name": name, "owner": owner}
        )
    if not created:
        raise NameTaken(f"There is already a bot called {slug}. Choose another name.")
    return bot


def withdraw(bot: Bot) -> Bot:
    """Take a bot out of play; its results stay."""
    return _change(bot, (Bot.Status.ACTIVE, Bot.Status.BENCHED), Bot.Status.WITHDRAWN)


def bring_back(bot: Bot) -> Bot:
    """Let a bot play again that was withdrawn or benched."""
    return _change(bot, (Bot.Status.WITHDRAWN, Bot.Status.BENCHED), Bot.Status.ACTIVE)


def _change(bot: Bot, before: Iterable[Bot.Status], after: Bot.Status) -> Bot:
    """Change a status once; asking again for what is already so is no fault."""
    Bot.objects.filter(pk=bot.pk, status__in=before).update(status=after)
    bot.refresh_from_db(fields=["status"])
    if bot.status != after:
        raise NotActive(f"The bot is {bot.status}; that cannot be changed by you.")
    return bot


# Submissions


def submit(bot: Bot, upload: BinaryIO, filename: str) -> Submission:
    """Judge, store and number an upload; the same files give the same submission."""
    _check_quota(bot)
    limits = checks.UploadLimits(packed=settings.TORRES_UPLOAD_BYTES)
    with tempfile.TemporaryDirectory(dir=scratch()) as box:
        folder = Path(box) / "bot"
        source = archive.unpack(
            upload, filename, folder, suffixes=languages.suffixes(), limits=limits
        )
        known = bot.submissions.filter(digest=source.digest).first()
        if known is not None:
            return known
        return _enter(bot, folder, source)


def _check_quota(bot: Bot) -> None:
    if bot.status not in (Bot.Status.ACTIVE, Bot.Status.BENCHED):
        raise NotActive(f"The bot is {bot.status}. Bring it back before you upload.")
    if bot.owner is None:
        return
    if wait := selectors.upload_wait(bot.owner, settings.TORRES_UPLOADS_PER_HOUR):
        raise TooMany(
            f"More than {settings.TORRES_UPLOADS_PER_HOUR} uploads in an hour."
            f" Try again in {wait} seconds.",
            retry_after=wait,
        )
    if selectors.bytes_kept(bot.owner) > settings.TORRES_BYTES_PER_OWNER:
        raise TooMany(
            f"Your uploads fill the {settings.TORRES_BYTES_PER_OWNER:,} bytes that one"
            " person may fill. Ask the operator for more."
        )


def _enter(bot: Bot, folder: Path, source: archive.UnpackedUpload) -> Submission:
    """Store the files, then write the row; files without a row do no harm."""
    box = _box(folder)
    submission = Submission(
        bot=bot,
        digest=source.digest,
        language=box.language,
        entry=box.entry,
        size=source.size,
    )
    _store(submission.package, folder, source.files)
    with transaction.atomic():
        # The lock on the owner makes quotas exact, the one on the bot the numbers.
        if bot.owner is not None:
            User.objects.select_for_update().get(pk=bot.owner.pk)
        Bot.objects.select_for_update().get(pk=bot.pk)
        known = bot.submissions.filter(digest=source.digest).first()
        if known is not None:
            return known
        _check_quota(bot)
        last = bot.submissions.aggregate(last=Max("number"))["last"] or 0
        submission.number = last + 1
        submission.save(force_insert=True)
    return submission


def _box(folder: Path) -> Program:
    try:
        return languages.locate(folder)
    except languages.EntryNotFound as why:
        if (folder / languages.MANIFEST).is_file():
            raise checks.NoEntry(str(why)) from why
        known = ", ".join(f"bot{suffix}" for suffix in languages.suffixes())
        raise checks.NoEntry(
            f"There is no entry that runs here. Name the main file one of: {known}."
        ) from None


def _store(package: str, folder: Path, files: Iterable[str]) -> None:
    storage = storages["bots"]
    if storage.exists(package):
        return
    with tempfile.TemporaryFile() as packed:
        archive.pack(folder, files, packed)
        packed.seek(0)
        saved = storage.save(package, File(packed))
    if saved != package:  # somebody else was first with the same files
        storage.delete(saved)


def begin(submission_id: int) -> Submission | None:
    """Claim a submission to build and try it; None if nothing is to be done now.

    Whoever claims it writes with the fence it got, until the lease ends.
    """
    due = Submission.objects.filter(pk=submission_id).filter(selectors.is_due())
    fence = due.values_list("fence", flat=True).first()
    if fence is None:
        return None
    claimed = due.filter(fence=fence).update(
        fence=fence + 1,
        status=Submission.Status.BUILDING,
        lease_until=Now() + LEASE,
    )
    if not claimed:
        return None
    return selectors.submissions().get(pk=submission_id, fence=fence + 1)


def go_on(
    submission: Submission, status: Submission.Status, lease: timedelta = LEASE
) -> None:
    """Keep the lease. Raises LostClaim when somebody else has it, or it was settled."""
    _write(submission, status=status, lease_until=Now() + lease)


def accept(submission: Submission, report: dict[str, Any], log: str) -> None:
    """Let it play, and retire what it replaces; a newer one keeps its place."""
    with transaction.atomic():
        Bot.objects.select_for_update().get(pk=submission.bot_id)
        ready = submission.bot.submissions.filter(status=Submission.Status.READY)
        newer = ready.filter(number__gt=submission.number).exists()
        status = Submission.Status.RETIRED if newer else Submission.Status.READY
        _write(
            submission,
            status=status,
            lease_until=None,
            ready_at=Now(),
            report=report,
            log=log,
        )
        ready.filter(number__lt=submission.number).update(
            status=Submission.Status.RETIRED
        )


def reject(submission: Submission, report: dict[str, Any], log: str) -> None:
    """Say why it cannot play. It stays rejected: a new upload is a new one."""
    _write(
        submission,
        status=Submission.Status.REJECTED,
        lease_until=None,
        report=report,
        log=log,
    )


def postpone(submission: Submission, why: str, pause: timedelta) -> None:
    """Let it wait for a worker that can try it; the reason is shown."""
    _write(
        submission,
        status=Submission.Status.WAITING,
        lease_until=Now() + pause,
        report={"summary": why, "steps": []},
    )


def failed(submission: Submission, why: str, pause: timedelta) -> None:
    """Note that we, not the bot, failed to try it; it is tried again."""
    postpone(submission, why, pause)
    Submission.objects.filter(pk=submission.pk).update(failures=F("failures") + 1)


def rebuild(submission: Submission) -> None:
    """Try it once more from the start; an operator's wish."""
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.UPLOADED, lease_until=None, fence=F("fence") + 1
    )


def scratch() -> Path:
    """Return where half-done work lies; what is left there by the dead is rubbish."""
    here = Path(settings.DATA_DIR) / "scratch"
    here.mkdir(parents=True, exist_ok=True)
    return here


def bury_predecessor() -> int:
    """Let what a dead process was trying be tried at once, and remove its rubbish.

    For the start of a service that is the only one with its data folder.
    """
    for rubbish in scratch().iterdir():
        if rubbish.is_dir():
            shutil.rmtree(rubbish, ignore_errors=True)
        else:
            rubbish.unlink(missing_ok=True)
    return Submission.objects.filter(
        status__in=[Submission.Status.BUILDING, Submission.Status.VALIDATING]
    ).update(lease_until=None)


def _write(submission: Submission, **values: object) -> None:
    mine = Submission.objects.filter(pk=submission.pk, fence=submission.fence)
    if not mine.filter(status__in=OPEN).update(**values):
        raise LostClaim(f"{submission} is somebody else's now")


def ensure_house_bots() -> list[Bot]:
    """Make sure that the house's bots exist as they are in this version; idempotent."""
    return [_house_bot(entry.parent) for entry in sorted(HOUSE.glob("*/bot.*"))]


def _house_bot(folder: Path) -> Bot:
    bot, _ = Bot.objects.get_or_create(
        slug=f"{HOUSE_PREFIX}{folder.name}",
        defaults={"name": f"house:{folder.name}", "house": True},
    )
    paths = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    source = archive.UnpackedUpload(tuple(paths), *archive.digest(folder, paths))
    submission = _enter(bot, folder, source)
    if submission.status in OPEN:
        accept(submission, {"summary": "Part of the house.", "steps": []}, "")
    return bot
