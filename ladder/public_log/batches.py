"""Batches of matches whose decks follow from one secret.

1. `prepare` commits to the secret of the next batch before it is needed.
2. The plan of a match names the newest batch, which was committed to before.
3. `reveal` makes the secret public when no match of the batch is open any more.
"""

import time
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ladder.events.outbox import NewLeaf, record
from ladder.public_log import cosignatures
from ladder.public_log.keys import LogKey
from ladder.public_log.models import DeckBatch
from torres.tlog.decks import commitment
from torres.tlog.leaves import LeafKind
from torres.tlog.notes import VerifierKey

MATCHES = 1024
"""A batch gets no more matches than about this number."""
MAX_AGE = timedelta(days=1)
"""A batch gets no more matches after this time, so that secrets become public."""


def prepare(key: LogKey) -> bool:
    """Commit to the secret of a new batch if the newest one can take no more matches.

    It also ends when other witnesses are configured. The sequencer logs a commitment
    before everything that waits. Idempotent. Return whether there is a new batch.
    """
    newest = DeckBatch.objects.order_by("-number")[:1]
    young = DeckBatch.objects.filter(created_at__gt=Now() - MAX_AGE, pk__in=newest)
    open_ = young.filter(matches__lt=MATCHES, revealed_at=None).first()
    witnesses = [str(witness) for witness in cosignatures.witnesses()]
    if open_ is not None and open_.witnesses == witnesses:
        return False
    _commit(key, newest[0].number + 1 if newest else 1)
    return True


def begin_anew(key: LogKey) -> None:
    """Commit to a secret that no leaf can have shown, after a restore.

    Leaves that the database lost may have made the secrets of the next numbers public.
    There were fewer of them than there are seconds since 1970.
    """
    newest = DeckBatch.objects.order_by("-number").first()
    _commit(key, max(newest.number if newest else 0, int(time.time())) + 1)


def _commit(key: LogKey, number: int) -> None:
    DeckBatch.objects.create(
        number=number,
        commitment=commitment(key.batch_secret(number)),
        witnesses=[str(witness) for witness in cosignatures.witnesses()],
    )


def open_batches() -> list[DeckBatch]:
    """Return the batches without a leaf, and those whose secret is not public.

    They come in the order of their numbers.
    """
    rows = DeckBatch.objects.filter(Q(leaf=None) | Q(revealed_at=None))
    return list(rows.order_by("number"))


def usable(key: LogKey) -> list[DeckBatch]:
    """Return `open_batches`, and prepare one that plans can name if there is none."""
    found = open_batches()
    if not any(batch.revealed_at is None for batch in found):
        prepare(key)
        found = open_batches()
    return found


def witnesses() -> list[str] | None:
    """Return the names of the witnesses whose cosignatures enter decks from now on.

    Return None if no batch of decks was prepared yet.
    """
    newest = DeckBatch.objects.order_by("-number").values_list("witnesses", flat=True)
    keys = newest.first()
    return None if keys is None else [VerifierKey.parse(key).name for key in keys]


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
