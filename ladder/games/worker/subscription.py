"""The queues from which a worker takes hints.

A drained worker must not take hints: it would refuse the claims, and each game would
wait until its hint counts as lost. As a drained worker is idle, it would take most
hints of all workers. So it stops to consume the queues of games and of uploads.
"""

from threading import Event

from celery.worker import WorkController

# The common queues of games.
GAME_QUEUES = {"play", "again", "tournament"}
UPLOAD_QUEUE = "build"
# Set while the worker of this process is drained: its verdicts might be wrong.
validation_paused = Event()


class Subscription:
    """Consumes the queues of a Celery worker, or pauses all of them."""

    def __init__(self, worker: WorkController) -> None:
        self._worker = worker
        self.queues = sorted(worker.app.amqp.queues.consume_from)
        self._active = True

    def set_active(self, *, active: bool) -> None:
        """Consume the queues from now on, or stop to do so. Any thread may call it.

        Idempotent. While the worker is starting nothing happens: call it again.
        """
        consumer = self._worker.consumer  # type: ignore[attr-defined]
        if consumer is None or active == self._active:
            return
        self._active = active
        if active:
            validation_paused.clear()
        else:
            validation_paused.set()  # for hints that have been received already
        # Celery's connection belongs to the thread that consumes.
        change = consumer.add_task_queue if active else consumer.cancel_task_queue
        for queue in self.queues:
            consumer.call_soon(change, queue)
