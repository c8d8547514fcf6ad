"""Batches of matches whose decks follow from one secret.

1. `prepare` commits to the secret of the next batch before it is needed.
2. A planned match gets its decks from the newest batch that was committed to before.
3. `reveal` makes the secret public when no match of the batch is open any more.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.events.outbox import NewLeaf, record
from ladder.public_log.keys import LogKey
from ladder.public_log.models import DeckBatch
from torres.tlog.decks import commitment
from torres.tlog.leaves import LeafKind

MATCHES = 1024
"""A batch gets no more matches than about this number."""
MAX_AGE = timedelta(days=1)
"""A batch gets no more matches after this time, so that secrets become public."""


def prepare(key: LogKey) -> None:
    """Commit to the secret of a new batch if no batch can take more matches.

    The sequencer logs it before everything that waits. Idempotent.
    """
    young = DeckBatch.objects.filter(created_at__gt=Now() - MAX_AGE)
    if young.filter(matches__lt=MATCHES, revealed_at=None).exists():
        return
    newest = DeckBatch.objects.order_by("-number").first()
    number = newest.number + 1 if newest else 1
    hash_ = commitment(key.batch_secret(number))
    DeckBatch.objects.create(number=number, commitment=hash_)


def closed() -> QuerySet[DeckBatch]:
    """List the batches that take no more matches and whose secret is not public."""
    newer = DeckBatch.objects.exclude(leaf=None).order_by("-number")
    newest = newer.values_list("number", flat=True).first() or 0
    return DeckBatch.objects.filter(number__lt=newest, revealed_at=None)


@transaction.atomic
def reveal(batch: DeckBatch, key: LogKey) -> None:
    """Make the secret of a batch public. The caller knows that no game needs it."""
    secret = key.batch_secret(batch.number).hex()
    DeckBatch.objects.filter(pk=batch.pk).update(revealed_at=Now())
    data = {"batch": batch.number, "secret": secret}
    record(leaf=NewLeaf(LeafKind.BATCH_REVEALED, batch.number, data))
