"""Give planned matches their seeds, which follow from the public log.

The seed of a match follows from the secret of a batch, from the plan, and from the
root of a signed tree with this plan in it (`torres.tlog.decks`). Until then the match
has no seed, and its games are not played.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from ladder.games import sql
from ladder.games.models import OPEN, Game
from ladder.public_log import batches, tree
from ladder.public_log.keys import LogKey
from torres.tlog.decks import DealInputs, match_seed

DEALS_AT_ONCE = 500


def deal(key: LogKey) -> int:
    """Give seeds to the matches whose plans are in the signed tree; return how many.

    Idempotent. A match whose plan is not in the tree yet gets its seed later.
    """
    deals = list(_complete(sql.logged_plans(DEALS_AT_ONCE)))
    if not deals:
        return 0
    plans = [plan for sharing in deals for plan in sharing]
    size, root = plans[0].size, plans[0].root
    hashes = tree.hashes([plan.leaf for plan in plans if not plan.hash], size)
    secrets = {batch: key.batch_secret(batch) for batch in {p.batch for p in plans}}
    dealt = []
    for sharing in deals:
        # All share the decks of the first, and no plan is older than their batch.
        first = next(plan for plan in sharing if plan.deal_of in (None, plan.match))
        batch = min(sharing, key=lambda plan: plan.leaf).batch
        hash_ = first.hash or hashes[first.leaf]
        seed = match_seed(secrets[batch], DealInputs(hash_, size, root))
        for plan in sharing:
            own_plan = plan.hash or hashes[plan.leaf]
            dealt.append(sql.DealtMatch(plan.match, seed, batch, hash_, own_plan))
    counts = Counter(row.batch for row in dealt)
    sql.execute(
        sql.deal_matches(dealt, size, root),
        *(sql.count_dealt(batch, count) for batch, count in counts.items()),
    )
    return len(dealt)


def _complete(plans: Sequence[sql.LoggedPlan]) -> Iterator[list[sql.LoggedPlan]]:
    """Yield the plans of each deal; leave a deal out until all its plans are logged.

    Otherwise a match could be planned for decks that are known.
    """
    by_deal: dict[int, list[sql.LoggedPlan]] = {}
    for plan in plans:
        by_deal.setdefault(plan.deal_of or plan.match, []).append(plan)
    for sharing in by_deal.values():
        if len(sharing) == max(1, sharing[0].sharing):
            yield sharing


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
