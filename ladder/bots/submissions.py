"""The life of a submission: one function for each event.

README.md shows the state machine. These functions change rows and files and send no
messages: the caller of `submit` sends the hint to the workers.

A worker that validates a submission holds a claim on it (`ladder.common.leases`).
"""

import tempfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now

from ladder.bots import facts, selectors
from ladder.bots.models import CLAIMED, OPEN, PRIVATE, Bot, Submission
from ladder.bots.services import NotActive
from ladder.common import leases, tracing
from ladder.common.leases import Held
from ladder.common.scratch import scratch_folder
from ladder.common.storable import storable
from ladder.events.kinds import EventKind
from torres.common.errors import LadderError, TooMany
from torres.runner import languages
from torres.runner.manifest import MANIFEST
from torres.runner.sandbox import Program
from torres.upload import archive, checks

# Longer than any silent step of a validation: the start of a bot, or one decision.
LEASE = timedelta(seconds=90)
MAX_FAILURES = 3
# Applies if all failures happened on one host and another host could try.
MAX_FAILURES_ON_ONE_HOST = 6
# After the last failure, until the same upload is validated again.
REPEAT_PAUSE = timedelta(hours=1)
# An owner may upload to a bot, and choose its version, in these states.
CHANGEABLE = (Bot.Status.ACTIVE, Bot.Status.BENCHED)


APOLOGY = (
    "The service could not check this upload; this is not your bot's fault. The"
    " operator was informed. Upload it again later."
)
TRY_AGAIN = (
    "The service could not check this upload and will try again; this is not your"
    " bot's fault."
)

log = structlog.get_logger()


class LostClaim(Exception):
    """Another worker holds the claim, or the validation is over: write nothing more."""


class CannotPlay(LadderError, code="cannot-play", http_status=409):
    """The submission was never ready, or its files are gone."""


# The owner's events


def submit(bot: Bot, upload: BinaryIO, filename: str) -> Submission:
    """Check, store and number an upload; return its submission.

    The same files for the same bot give the same submission. Raises BadArchive (and its
    kinds), NotActive, and TooMany if a quota is used up.

    1. Check the quotas, so that nobody can keep the service busy with unpacking.
    2. Unpack into the scratch folder. This checks paths, sizes and the entry file.
    3. Look for the digest among the bot's submissions.
    4. Store the files, then add the row (see `add`).
    """
    with tracing.span("upload", {"torres.bot": bot.slug}):
        return _submit(bot, upload, filename)


def _submit(bot: Bot, upload: BinaryIO, filename: str) -> Submission:
    _check_quotas(bot)
    limits = checks.UploadLimits(packed=settings.TORRES_UPLOAD_BYTES)
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as parent:
        folder = Path(parent) / "bot"
        source = archive.unpack(
            upload, filename, folder, suffixes=languages.suffixes(), limits=limits
        )
        known = bot.submissions.filter(digest=source.digest).first()
        if known is not None:
            _retry_if_service_failed(known)
            return known
        return add(bot, folder, source)


def add(bot: Bot, folder: Path, source: archive.UnpackedUpload) -> Submission:
    """Store the files in ``folder``, then add the row of their submission.

    The files come first: files without a row do no harm, and a row without files would.
    """
    program = _locate_entry(folder)
    submission = Submission(
        bot=bot,
        digest=source.digest,
        language=program.language,
        entry=program.entry,
        size=source.size,
        traceparent=tracing.present(),
    )
    _store(submission.package, folder, source.files)
    with transaction.atomic():
        # The lock on the owner makes quotas exact, the lock on the bot the numbers.
        if bot.owner is not None:
            User.objects.select_for_update().get(pk=bot.owner.pk)
        Bot.objects.select_for_update().get(pk=bot.pk)
        known = bot.submissions.filter(digest=source.digest).first()
        if known is not None:
            return known
        _check_quotas(bot)
        # Meanwhile a rejected submission with the same files may have been deleted.
        _store(submission.package, folder, source.files)
        last = bot.submissions.aggregate(last=Max("number"))["last"] or 0
        submission.number = last + 1
        submission.save(force_insert=True)
        facts.record_upload(submission)
    return submission


@transaction.atomic
def activate(submission: Submission) -> Submission:
    """Let an older submission play again, in place of the one that plays now.

    It plays until the next upload becomes ready. Idempotent. Ladders treat the change
    like a new version (`ratings.rater.welcome`). Raises NotActive and CannotPlay.
    """
    bot = Bot.objects.select_for_update().get(pk=submission.bot_id)
    if bot.status not in CHANGEABLE:
        raise NotActive(f"The bot is {bot.status}. Bring it back first.")
    submission.refresh_from_db(fields=["status", "ready_at"])
    if submission.status == Submission.Status.READY:
        return submission
    if not was_ready(submission):
        raise CannotPlay(
            f"{submission} is {submission.status}, and only an upload that was ready"
            " before can play again. Choose another one."
        )
    if not storages["bots"].exists(submission.package):
        raise CannotPlay(f"The files of {submission} are gone; upload them again.")
    bot.submissions.filter(status=Submission.Status.READY).update(
        status=Submission.Status.RETIRED
    )
    # Ladders look for submissions that became ready lately.
    bot.submissions.filter(pk=submission.pk).update(
        status=Submission.Status.READY, ready_at=Now()
    )
    submission.refresh_from_db(fields=["status", "ready_at"])
    facts.record_submission(
        EventKind.SUBMISSION_ACTIVATED, submission, Submission.Status.READY
    )
    return submission


def was_ready(submission: Submission) -> bool:
    """True if the submission was ready once and is not now."""
    return (
        submission.status == Submission.Status.RETIRED
        and submission.ready_at is not None
    )


# The events of a validation


def claim(submission_id: int, host: str = "", live_hosts: int = 0) -> Submission | None:
    """Claim a submission for validation; None if there is nothing to do now.

    ``host`` is the host of the worker that claims, ``live_hosts`` as in
    `record_failure`.

    1. Read the submission, if it is open and nobody holds a claim.
    2. Take it, unless another worker has done so meanwhile.
    3. If an earlier claim has ended without a result, the process that held it was
       killed. Count that as a failure, because the upload may be the cause; after too
       many of them, reject the submission with an apology and return None.
    4. Return the row with the new fence, which guards all further writes.
    """
    free = Submission.objects.filter(pk=submission_id).filter(selectors.claimable())
    before = free.defer(*PRIVATE).first()
    if before is None:
        return None
    fence = leases.take(
        free,
        submission_id,
        before.fence,
        LEASE,
        status=Submission.Status.BUILDING,
        claimed_at=Now(),
        claimed_host=host,
    )
    if fence is None:
        return None
    rows = Submission.objects.select_related("bot").defer(*PRIVATE)
    submission = rows.get(pk=submission_id, fence=fence)
    if before.status not in CLAIMED or before.lease_until is None:
        return submission
    if _count_failure(submission, before.claimed_host, live_hosts):
        _give_up(submission)
        return None
    _write(
        submission,
        failures=submission.failures,
        failed_hosts=submission.failed_hosts,
    )
    return submission


def renew_lease(
    submission: Submission, status: Submission.Status, lease: timedelta = LEASE
) -> None:
    """Extend the claim, and show how far the validation is. Raises LostClaim."""
    _write(submission, status=status, lease_until=Now() + lease)


def accept(submission: Submission, report: dict[str, Any], log: str) -> None:
    """Let the submission play, and retire the older one. Raises LostClaim.

    If a newer submission was ready already, its owner may have chosen another one since
    then. So the one that plays keeps playing, and this one becomes retired at once.
    """
    with transaction.atomic():
        Bot.objects.select_for_update().get(pk=submission.bot_id)
        others = submission.bot.submissions
        newer = others.filter(number__gt=submission.number, ready_at__isnull=False)
        ready = others.filter(status=Submission.Status.READY)
        overtaken = newer.exists() and ready.exists()
        status = Submission.Status.RETIRED if overtaken else Submission.Status.READY
        _write(
            submission,
            status=status,
            lease_until=None,
            ready_at=Now(),
            report=storable(report),
            log=storable(log),
        )
        if not overtaken:
            ready.exclude(pk=submission.pk).update(status=Submission.Status.RETIRED)
        facts.record_submission(EventKind.SUBMISSION_READY, submission, status)


def reject(submission: Submission, report: dict[str, object], log: str) -> None:
    """Reject the submission for good, with the reason. Raises LostClaim."""
    _write_rejection(
        submission, lease_until=None, report=storable(report), log=storable(log)
    )


def postpone(submission: Submission, why: str, pause: timedelta) -> None:
    """Let the submission wait for a worker that can run it. Raises LostClaim."""
    _write(
        submission,
        status=Submission.Status.WAITING,
        lease_until=Now() + pause,
        report={"summary": why, "steps": []},
    )


def record_failure(
    submission: Submission, host: str, live_hosts: int, pause: timedelta
) -> bool:
    """Count a validation that the service itself could not finish.

    The submission waits for ``pause`` and is validated again. After MAX_FAILURES on two
    hosts, or if there is no other host, it is rejected with an apology. ``live_hosts``
    is the number of hosts that run workers; 0 if it is not known. Return True if the
    submission was rejected. Raises LostClaim.
    """
    if _count_failure(submission, host, live_hosts):
        _give_up(submission)
        return True
    _write(
        submission,
        status=Submission.Status.WAITING,
        lease_until=Now() + pause,
        failures=submission.failures,
        failed_hosts=submission.failed_hosts,
        report={"summary": TRY_AGAIN, "steps": []},
    )
    return False


# The operator's events


def restart(submission: Submission) -> None:
    """Validate the submission again from the start, whatever its status is."""
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.UPLOADED,
        lease_until=None,
        fence=F("fence") + 1,
        failures=0,
        failed_hosts=[],
        service_failed=False,
    )


def end_abandoned_claims() -> int:
    """End the claims of a process that was killed; return how many there were.

    Call it only if no other process validates submissions. A process that stops in
    order leaves no claim, so that the next claim counts each of these as a failure.
    """
    return Submission.objects.filter(status__in=CLAIMED).update(lease_until=Now())


def _count_failure(submission: Submission, host: str, live_hosts: int) -> bool:
    """Count a failure in this object; return True if it was one too many."""
    submission.failures += 1
    submission.failed_hosts = sorted({*submission.failed_hosts, host})
    tried_enough = (
        len(submission.failed_hosts) > 1
        or live_hosts == 1
        or submission.failures >= MAX_FAILURES_ON_ONE_HOST
    )
    return submission.failures >= MAX_FAILURES and tried_enough


def _give_up(submission: Submission) -> None:
    """Reject the submission with an apology. Raises LostClaim."""
    _write_rejection(
        submission,
        lease_until=Now() + REPEAT_PAUSE,
        failures=submission.failures,
        failed_hosts=submission.failed_hosts,
        service_failed=True,
        report={"summary": APOLOGY, "steps": []},
    )
    log.critical("the service cannot validate an upload", submission=submission.pk)


@transaction.atomic
def _write_rejection(submission: Submission, **values: object) -> None:
    rejected = Submission.Status.REJECTED
    _write(submission, status=rejected, **values)
    facts.record_submission(EventKind.SUBMISSION_REJECTED, submission, rejected)


def _retry_if_service_failed(submission: Submission) -> None:
    """Validate a repeated upload again if the service failed to, some time ago."""
    free = Submission.objects.filter(leases.is_free(), service_failed=True)
    if free.filter(pk=submission.pk).exists():
        restart(submission)
        submission.refresh_from_db()


def _check_quotas(bot: Bot) -> None:
    if bot.status not in CHANGEABLE:
        raise NotActive(f"The bot is {bot.status}. Bring it back before you upload.")
    if bot.owner is None:
        return
    per_hour = settings.TORRES_UPLOADS_PER_HOUR
    wait_s = selectors.seconds_until_next_upload(bot.owner, per_hour)
    if wait_s:
        raise TooMany(
            f"You may upload {per_hour} times an hour. Try again in {wait_s} seconds.",
            retry_after=wait_s,
        )
    if selectors.stored_bytes(bot.owner) > settings.TORRES_BYTES_PER_OWNER:
        raise TooMany(
            f"Your uploads fill the {settings.TORRES_BYTES_PER_OWNER:,} bytes that one"
            " person may fill. Ask the operator for more."
        )


def _locate_entry(folder: Path) -> Program:
    try:
        return languages.locate(folder)
    except languages.EntryNotFound as why:
        if (folder / MANIFEST).is_file():
            raise checks.NoEntry(str(why)) from why
        names = ", ".join(f"bot{suffix}" for suffix in languages.suffixes())
        raise checks.NoEntry(
            f"There is no entry that runs here. Name the main file one of: {names}."
        ) from None


def _store(package: str, folder: Path, files: Iterable[str]) -> None:
    storage = storages["bots"]
    if storage.exists(package):
        return
    with tempfile.TemporaryFile() as packed:
        archive.pack(folder, files, packed)
        packed.seek(0)
        name = storage.save(package, File(packed))
    if name != package:
        # Another request stored the same files first, so ours got a different name.
        storage.delete(name)


def _write(submission: Submission, **values: object) -> None:
    """Change the row if the claim still stands. Raises LostClaim."""
    open_rows = Submission.objects.filter(status__in=OPEN)
    if not Held(open_rows, submission.pk, submission.fence).update(**values):
        raise LostClaim(f"the claim on {submission} was lost: another worker has it")
