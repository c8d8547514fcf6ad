"""The facts about bots and submissions: their events and leaves of the log."""

from ladder.bots.models import Bot, Submission
from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, NewLeaf, record
from torres.tlog.leaves import LeafKind

_FOR_EVERYBODY = (EventKind.SUBMISSION_READY, EventKind.SUBMISSION_ACTIVATED)
"""Everybody sees which submission of a bot plays. Other uploads concern their owner."""


def record_upload(submission: Submission) -> None:
    """Record that an upload was accepted. The log names neither bot nor owner."""
    status = Submission.Status.UPLOADED
    data = {"submission": submission.pk, "digest": submission.digest}
    record(
        _event(EventKind.SUBMISSION_CREATED, submission, status),
        NewLeaf(LeafKind.SUBMISSION_ACCEPTED, submission.pk, data),
    )


def record_submission(
    kind: EventKind, submission: Submission, status: Submission.Status
) -> None:
    """Record what happened to a submission: neither its log nor its report."""
    record(_event(kind, submission, status))


def record_status(bot: Bot, status: Bot.Status) -> None:
    """Record that a bot is active, benched, withdrawn or banned from now on."""
    data = {"status": status, "bots": [bot.slug], "url": f"{API}bots/{bot.slug}/"}
    record(NewEvent(EventKind.BOT_STATUS, data, owners=[bot.owner_id]))


def _event(
    kind: EventKind, submission: Submission, status: Submission.Status
) -> NewEvent:
    bot = submission.bot
    data = {
        "submission": submission.pk,
        "number": submission.number,
        "status": status,
        "bots": [bot.slug],
        "url": f"{API}submissions/{submission.pk}/",
    }
    return NewEvent(kind, data, kind in _FOR_EVERYBODY, [bot.owner_id])
