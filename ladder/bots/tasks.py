"""Hints to workers; the rows say what is due."""

from celery import shared_task

from ladder.bots import validation


def send(submission_id: int) -> None:
    """Tell the workers of a submission; whoever looks for due ones finds it anyway."""
    build_submission.apply_async((submission_id,), retry=False)


@shared_task(name="bots.build")
def build_submission(submission_id: int) -> None:
    """Build and try a submission. Safe to deliver twice, late, or never."""
    validation.run(submission_id)
