"""The facts about bots and submissions: their events and leaves of the log."""

from ladder.bots.models import Bot, Submission
from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, NewLeaf, record
from torres.tlog.leaves import LeafKind, name_hash, new_salt

_FOR_EVERYBODY = (EventKind.SUBMISSION_READY, EventKind.SUBMISSION_ACTIVATED)
"""Everybody sees which submission of a bot plays. Other uploads concern their owner."""


def record_name(bot: Bot) -> None:
    """Log a hash of the bot's name, and keep the salt without which it tells nothing.

    So everybody can compare the names that the service shows with the log, until the
    bot gets another name, and with it another salt.
    """
    salt = new_salt()
    bot.name_salt = salt.hex()
    Bot.objects.filter(pk=bot.pk).update(name_salt=bot.name_salt)
    data = {"bot": bot.pk, "hash": name_hash(salt, bot.slug, bot.name)}
    record(leaf=NewLeaf(LeafKind.BOT_NAMED, bot.pk, data))


def record_upload(submission: Submission) -> None:
    """Record that an upload was accepted. The log names neither bot nor owner.

    With its first upload a bot takes part in the log.
    """
    if not submission.bot.name_salt:
        record_name(submission.bot)
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
    event = NewEvent(EventKind.BOT_STATUS, data, owners=[bot.owner_id])
    record(event, status_leaf(bot, status))


def status_leaf(bot: Bot, status: str, ladder: str = "") -> NewLeaf:
    """Return the leaf of a status, on one ladder if there is a slug.

    It explains to auditors why scheduled games of the bot are cancelled.
    """
    data = {"bot": bot.pk, "status": status, "ladder": ladder}
    return NewLeaf(LeafKind.BOT_STATUS, bot.pk, data)


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
