"""Celery tasks. A message is a hint: the rows say which submissions need a worker."""

from celery import shared_task

from ladder.bots import validation


def send(submission_id: int) -> None:
    """Send the hint for a submission.

    If the hint is lost, the dispatcher finds the row and sends another one.
    """
    build_submission.apply_async((submission_id,), retry=False)


@shared_task(name="bots.build")
def build_submission(submission_id: int, live_hosts: int = 0) -> None:
    """Validate the submission whose turn it is. A hint may come twice, late or never.

    ``live_hosts`` is the number of hosts that run workers; 0 if it is not known.
    """
    validation.run_next(live_hosts)
