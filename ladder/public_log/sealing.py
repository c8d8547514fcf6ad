"""Open what the public log has sealed."""

from collections.abc import Collection

from ladder.events.models import Fact
from ladder.events.outbox import NewLeaf, fact, record_all
from ladder.public_log.models import SealedLeaf
from torres.tlog.leaves import LeafKind


def unseal(matches: Collection[int]) -> None:
    """Make public what the log has sealed about these matches.

    1. Leaves that have no number yet are logged without a seal.
    2. For each sealed leaf, a new leaf contains its salt and its text.
    """
    Fact.objects.filter(leaf_seal__in=matches).update(leaf_seal=None)
    sealed = list(SealedLeaf.objects.filter(match__in=matches).order_by("number"))
    record_all(fact(leaf=_opening(leaf)) for leaf in sealed)
    SealedLeaf.objects.filter(pk__in=[leaf.pk for leaf in sealed]).delete()


def _opening(leaf: SealedLeaf) -> NewLeaf:
    salt = bytes(leaf.salt).hex()
    data = {"leaf": leaf.number, "salt": salt, "text": leaf.text}
    return NewLeaf(LeafKind.UNSEALED, leaf.number, data)
