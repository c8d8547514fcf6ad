"""Back to an older upload: it plays again, until the next one is ready."""

from django.core.files.storage import storages
from django.db import transaction

from ladder.bots.models import Bot, Submission
from ladder.bots.services import NotActive
from ladder.common.errors import LadderError


class CannotPlay(LadderError):
    """This upload never passed its trial, or its files are gone."""

    code, http_status = "cannot-play", 409


@transaction.atomic
def roll_back(submission: Submission) -> Submission:
    """Let an upload that was ready before play again, in place of the present one.

    Asked for what plays already, it changes nothing. Ladders take it for a new version
    (`ratings.rater.welcome`). Raises NotActive and CannotPlay.
    """
    bot = Bot.objects.select_for_update().get(pk=submission.bot_id)
    if bot.status not in (Bot.Status.ACTIVE, Bot.Status.BENCHED):
        raise NotActive(f"The bot is {bot.status}. Bring it back first.")
    submission.refresh_from_db(fields=["status", "ready_at"])
    if submission.status == Submission.Status.READY:
        return submission
    if not was_ready(submission):
        raise CannotPlay(
            f"{submission} is {submission.status}: only an upload that was ready"
            " before can play again."
        )
    if not storages["bots"].exists(submission.package):
        raise CannotPlay(f"The files of {submission} are gone; upload them again.")
    bot.submissions.filter(status=Submission.Status.READY).update(
        status=Submission.Status.RETIRED
    )
    bot.submissions.filter(pk=submission.pk).update(status=Submission.Status.READY)
    submission.refresh_from_db(fields=["status"])
    return submission


def was_ready(submission: Submission) -> bool:
    """Say whether it played, or could have, and doesn't now."""
    return (
        submission.status == Submission.Status.RETIRED
        and submission.ready_at is not None
    )
