"""The events of bots and submissions."""

from ladder.bots.models import Bot, Submission
from ladder.events.kinds import EventKind
from ladder.events.outbox import API, publish
from ladder.public_log.outbox import record
from torres.tlog.leaves import LeafKind

_FOR_EVERYBODY = (EventKind.SUBMISSION_READY, EventKind.SUBMISSION_ACTIVATED)
"""Everybody sees which submission of a bot plays. Other uploads concern their owner."""


def announce_submission(
    kind: EventKind, submission: Submission, status: Submission.Status
) -> None:
    """Tell what happened to a submission: neither its log nor its report."""
    bot = submission.bot
    data = {
        "submission": submission.pk,
        "number": submission.number,
        "status": status,
        "bots": [bot.slug],
        "url": f"{API}submissions/{submission.pk}/",
    }
    publish(kind, data, public=kind in _FOR_EVERYBODY, owners=[bot.owner_id])


def announce_status(bot: Bot, status: Bot.Status) -> None:
    """Tell that a bot is active, benched, withdrawn or banned from now on."""
    data = {"status": status, "bots": [bot.slug], "url": f"{API}bots/{bot.slug}/"}
    publish(EventKind.BOT_STATUS, data, owners=[bot.owner_id])


def record_submission(submission: Submission) -> None:
    """Log that an upload was accepted: neither its bot nor its owner."""
    data = {"submission": submission.pk, "digest": submission.digest}
    record(LeafKind.SUBMISSION_ACCEPTED, submission.pk, data, seal=None)
