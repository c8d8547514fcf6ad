"""The outbox: one row for each event, written in the transaction of its change."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.events.kinds import EventKind

MAX_KIND_LENGTH = 40


class Event(models.Model):
    """Something that happened, as programs are told about it.

    `number` is the event's place in the order in which everybody reads the events. It
    is null until the event is committed and `stream.number_new` has numbered it: ids of
    concurrent transactions become visible out of order. `owners` lists the ids of the
    users who may see the event although it is not public.
    """

    number = models.BigIntegerField(null=True, unique=True)
    kind = models.CharField(max_length=MAX_KIND_LENGTH)
    created_at = models.DateTimeField(db_default=Now())
    data = models.JSONField()
    public = models.BooleanField()
    owners = models.JSONField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in EventKind]),
                name="event_kind_is_known",
            )
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(number__isnull=True),
                name="event_without_number",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class EventErasure(models.Model):
    """A deleted account that events may still name (`erasure`).

    `user` is the id that the account had. The row is deleted after the last event.
    """

    user = models.BigIntegerField()
    new_names = models.JSONField(help_text="New slugs of its bots by the old ones.")
    last_event = models.BigIntegerField(
        default=0, help_text="The events up to this id are done."
    )

    def __str__(self) -> str:
        return f"erasure of user {self.user}"
