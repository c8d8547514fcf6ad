"""Give planned matches their seeds, which follow from the public log.

The seed of a match follows from the secret of a batch, from the plan, and from the
root of a signed tree with this plan in it (`ladder.tlog.decks`). Until then the match
has no seed, and its games are not played.
"""

from collections import Counter

from django.db import transaction

from ladder.games import sql
from ladder.games.models import OPEN, Game, Match
from ladder.public_log import batches, tree
from ladder.public_log.keys import LogKey
from ladder.public_log.models import LogHead, LogLeaf
from ladder.tlog.decks import DealInputs, match_seed
from ladder.tlog.leaves import LeafKind

MATCHES_AT_ONCE = 500


def deal(key: LogKey) -> int:
    """Give seeds to the matches whose plans are in the signed tree; return how many.

    Idempotent. A match whose plan is not in the tree yet gets its seed later.
    """
    waiting = Match.objects.filter(seed="").order_by("pk")
    matches = list(waiting.values_list("pk", flat=True)[:MATCHES_AT_ONCE])
    head = tree.head()
    if not matches or head is None:
        return 0
    plans = LogLeaf.objects.filter(kind=LeafKind.MATCH_PLANNED, subject__in=matches)
    logged = plans.filter(number__lt=head.size).values_list("number", "subject")
    planned = {number: match for number, match in logged if match is not None}
    hashes = tree.hashes(list(planned))
    committed = batches.committed()
    dealt = []
    for number, match in sorted(planned.items()):
        # The newest one that was committed to before the plan.
        batch = next((b.number for b in committed if b.leaf < number), None)
        if batch is not None:
            dealt.append(_dealt(match, batch, hashes[number], head, key))
    with transaction.atomic():
        sql.deal_matches(dealt)
        for batch, count in Counter(row.batch for row in dealt).items():
            batches.count(batch, count)
    return len(dealt)


def _dealt(
    match: int, batch: int, plan: bytes, head: LogHead, key: LogKey
) -> sql.DealtMatch:
    """Return the columns of a match that gets its decks."""
    root = bytes(head.root)
    seed = match_seed(key.batch_secret(batch), DealInputs(plan, head.size, root))
    return sql.DealtMatch(seed, batch, plan, head.size, root, match)


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
