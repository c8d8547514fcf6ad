"""The outbox: one row for each fact, written in the transaction of its change."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.events.kinds import EventKind
from torres.tlog.leaves import LeafKind

MAX_KIND_LENGTH = 40
MAX_LEAF_KIND_LENGTH = 20


class Fact(models.Model):
    """Something that happened: an event for programs, a leaf of the log, or both.

    A part whose kind is empty does not exist, whatever its other columns hold.

    `number` is the fact's place in the order in which everybody reads the facts. It is
    null until the fact is committed and `stream.number_new` has numbered it: ids of
    concurrent transactions become visible out of order.

    The event has `kind`, `data`, `public` and `owners`: the ids of the users who may
    see it although it is not public. The leaf has the columns that begin with `leaf_`.
    Its subject is the id of what it is about. `leaf_seal` is the id of a match that is
    not public; the leaf is sealed then. `leaf_data` is JSON.
    """

    # The index of this constraint also leads to the facts without a number.
    number = models.BigIntegerField(null=True, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    kind = models.CharField(max_length=MAX_KIND_LENGTH, blank=True)
    data = models.JSONField(default=dict)
    public = models.BooleanField(default=False)
    owners = models.JSONField(default=list)
    leaf_kind = models.CharField(max_length=MAX_LEAF_KIND_LENGTH, blank=True)
    leaf_subject = models.PositiveBigIntegerField(null=True)
    leaf_seal = models.PositiveBigIntegerField(null=True)
    leaf_data = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["", *(kind.value for kind in EventKind)]),
                name="event_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(leaf_kind__in=["", *(kind.value for kind in LeafKind)]),
                name="leaf_kind_is_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["leaf_seal"],
                condition=Q(leaf_seal__isnull=False),
                name="fact_with_sealed_leaf",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind or self.leaf_kind} {self.number}"


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
