"""Give planned matches their seeds, which follow from the public log.

The seed of a match follows from the secret of a batch, from the plan, and from the
root of a signed tree with this plan in it (`ladder.tlog.decks`). Until then the match
has no seed, and its games are not played.
"""

from collections import Counter

from django.db import transaction

from ladder.common.fixed_query import FixedQuery, any_of, row_of
from ladder.games.models import OPEN, Game, Match
from ladder.public_log import batches, tree
from ladder.public_log.keys import LogKey
from ladder.public_log.models import LogHead, LogLeaf
from ladder.tlog.decks import DealInputs, match_seed
from ladder.tlog.leaves import LeafKind

MATCHES_AT_ONCE = 500
_HAS_NEW = FixedQuery(lambda: row_of(any_of(Match.objects.filter(seed=""))))


def deal(key: LogKey) -> int:
    """Give seeds to the matches whose plans are in the signed tree; return how many.

    Idempotent. A match whose plan is not in the tree yet gets its seed later.
    """
    if not _HAS_NEW.rows()[0][0]:
        return 0
    waiting = Match.objects.filter(seed="").order_by("pk")[:MATCHES_AT_ONCE]
    matches = {match.pk: match for match in waiting}
    head = tree.head()
    if not matches or head is None:
        return 0
    plans = LogLeaf.objects.filter(kind=LeafKind.MATCH_PLANNED, subject__in=matches)
    logged = plans.filter(number__lt=head.size).values_list("number", "subject")
    planned = {number: matches[subject] for number, subject in logged if subject}
    hashes = tree.hashes(list(planned))
    dealt = [
        match
        for number, match in planned.items()
        if _deal(match, number, hashes[number], head, key)
    ]
    with transaction.atomic():
        Match.objects.bulk_update(
            dealt, ["seed", "batch", "plan_hash", "deal_size", "deal_root"]
        )
        for batch, count in Counter(match.batch_id for match in dealt).items():
            assert batch is not None
            batches.count(batch, count)
    return len(dealt)


def _deal(match: Match, leaf: int, plan: bytes, head: LogHead, key: LogKey) -> bool:
    """Set the columns of a match; return False if no secret precedes its plan."""
    batch = batches.for_plan(leaf)
    if batch is None:
        return False
    the_deal = DealInputs(plan, head.size, bytes(head.root))
    match.batch = batch
    match.plan_hash = the_deal.plan
    match.deal_size = the_deal.size
    match.deal_root = the_deal.root
    match.seed = match_seed(key.batch_secret(batch.number), the_deal)
    return True


def reveal_ended(key: LogKey) -> int:
    """Make the secrets of the batches public whose games have ended; return how many.

    A dead game does not count as open, because an operator may never look at it.
    """
    revealed = 0
    for batch in batches.closed():
        games = Game.objects.filter(status__in=OPEN, match__batch=batch)
        if not games.exists():
            batches.reveal(batch, key)
            revealed += 1
    return revealed
