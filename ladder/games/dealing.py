"""Give planned matches their seeds, which follow from the public log.

The seed of a match follows from the secret of a batch, from the plan, and from the
root of a signed tree with this plan in it (`ladder.tlog.decks`). Until then the match
has no seed, and its games are not played.
"""

from collections import Counter

from ladder.games import sql
from ladder.games.models import OPEN, Game
from ladder.public_log import batches, tree
from ladder.public_log.keys import LogKey
from ladder.tlog.decks import DealInputs, match_seed

MATCHES_AT_ONCE = 500


def deal(key: LogKey) -> int:
    """Give seeds to the matches whose plans are in the signed tree; return how many.

    Idempotent. A match whose plan is not in the tree yet gets its seed later.
    """
    plans = sql.logged_plans(MATCHES_AT_ONCE)
    if not plans:
        return 0
    size, root = plans[0].size, plans[0].root
    hashes = tree.hashes([plan.leaf for plan in plans if not plan.hash], size)
    counts = Counter(plan.batch for plan in plans)
    secrets = {batch: key.batch_secret(batch) for batch in counts}
    dealt = []
    for plan in plans:
        hash_ = plan.hash or hashes[plan.leaf]
        seed = match_seed(secrets[plan.batch], DealInputs(hash_, size, root))
        dealt.append(sql.DealtMatch(plan.match, seed, plan.batch, hash_))
    sql.execute(
        sql.deal_matches(dealt, size, root),
        *(sql.count_dealt(batch, count) for batch, count in counts.items()),
    )
    return len(dealt)


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
