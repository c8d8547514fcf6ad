"""Give planned matches their seeds, which follow from the public log.

The seed of a match follows from the secret of a batch, from the plan, from the root of
the first signed tree with this plan in it, and from the cosignatures of witnesses on
this tree (`torres.tlog.decks`). Until then the match has no seed, and its games are not
played.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from ladder.events.outbox import NewLeaf
from ladder.games import sql
from ladder.games.models import OPEN, Game
from ladder.public_log import batches, cosignatures, tree
from ladder.public_log.keys import LogKey
from ladder.public_log.models import LogHead
from torres.tlog.decks import DealInputs, entropy, match_seed, seed_hash
from torres.tlog.leaves import LeafKind
from torres.tlog.notes import VerifierKey, parse_signature

WAIT_FOR_WITNESSES = timedelta(seconds=1)
"""Matches wait this long for cosignatures on the tree with their plans."""
ROWS_AT_ONCE = 1000
"""Matches in one statement. As many fit into one leaf, which has 64 KiB at most."""


class _Entropy(NamedTuple):
    """The cosignatures of a batch's witnesses, and what they add to its seeds.

    A line is None if the cosignature was too late.
    """

    lines: list[str | None]
    value: bytes


def deal(key: LogKey, head: LogHead) -> list[NewLeaf] | None:
    """Give seeds to the matches whose plans are in the signed tree.

    Return the leaves that commit to these seeds; the caller logs them next, in the same
    transaction. Return None while it is too early, because witnesses may still cosign
    this tree.
    """
    hashes, deals = _asking(head.size)
    if not deals:
        return []
    named = {plan.batch: plan.witnesses for sharing in deals for plan in sharing}
    sources = _entropies(named, head)
    age = timezone.now() - (head.signed_at or timezone.now())
    is_early = timedelta() <= age < WAIT_FOR_WITNESSES
    if is_early and any(None in source.lines for source in sources.values()):
        return None
    root = bytes(head.root)
    secrets = {batch: key.batch_secret(batch) for batch in named}
    rows = []
    for sharing in deals:
        # All share the decks of the first.
        first = next(plan for plan in sharing if plan.deal_of in (None, plan.match))
        value = sources[first.batch].value
        inputs = DealInputs(hashes[first.leaf], head.size, root, value)
        seed = match_seed(secrets[first.batch], inputs)
        rows += [
            sql.DealtMatch(
                match=plan.match,
                seed=seed,
                batch=first.batch,
                hash=hashes[first.leaf],
                own_plan=hashes[plan.leaf],
                entropy=value,
            )
            for plan in sharing
        ]
    return _dealt(rows, head, sources)


def _asking(size: int) -> tuple[dict[int, bytes], list[list[sql.LoggedPlan]]]:
    """Return the hashes of leaves that ask for decks, and the leaves of each deal."""
    plans = sql.logged_plans()
    hashes = {plan.leaf: plan.hash for plan in plans if plan.hash}
    unknown = [plan.leaf for plan in plans if not plan.hash]
    if unknown:
        hashes |= tree.hashes(unknown, size)
    # A match whose decks are renewed waits for the leaf that says so.
    new = [plan for plan in plans if hashes[plan.leaf] not in plan.used]
    return hashes, list(_complete(new))


def _entropies(
    named: Mapping[int, Sequence[str]], head: LogHead
) -> dict[int, _Entropy]:
    """Return the cosignatures on the tree of the witnesses of each batch."""
    cosigned = {}
    if any(named.values()):
        cosigned = cosignatures.of_tree(head)
    entropies = {}
    for number, witnesses in named.items():
        keys = [VerifierKey.parse(witness) for witness in witnesses]
        lines = [_line(key, cosigned) for key in keys]
        parts = [parse_signature(line).data if line else b"" for line in lines]
        entropies[number] = _Entropy(lines, entropy(parts))
    return entropies


def _line(key: VerifierKey, cosigned: Mapping[str, str]) -> str | None:
    """Return the line of this witness; None if there is none by exactly this key."""
    line = cosigned.get(key.name, "").strip()
    return line if line and parse_signature(line).key_id == key.key_id else None


def _dealt(
    rows: Sequence[sql.DealtMatch], head: LogHead, sources: Mapping[int, _Entropy]
) -> list[NewLeaf]:
    """Store the seeds, and return the leaves that commit to them.

    Matches of one batch share a leaf, but a match under embargo has a sealed one.
    """
    leaves: list[NewLeaf] = []
    by_batch: dict[int, list[sql.DealtMatch]] = {}
    for row in rows:
        by_batch.setdefault(row.batch, []).append(row)
    for batch, of_batch in by_batch.items():
        for start in range(0, len(of_batch), ROWS_AT_ONCE):
            some = of_batch[start : start + ROWS_AT_ONCE]
            embargo = sql.deal_matches(some, head.size, bytes(head.root))
            sql.execute(sql.count_dealt(batch, len(embargo)))
            lines = sources[batch].lines
            base = {"batch": batch, "size": head.size, "cosignatures": lines}
            leaves += _leaves(base, some, embargo)
    return leaves


def _leaves(
    base: dict[str, object], rows: Sequence[sql.DealtMatch], embargo: Mapping[int, bool]
) -> Iterator[NewLeaf]:
    """Yield the leaves of those rows that are in `embargo`."""
    fixed = [(row.match, seed_hash(row.seed)) for row in rows if row.match in embargo]
    public = [each for each in fixed if not embargo[each[0]]]
    if public:
        yield NewLeaf(LeafKind.DECKS_FIXED, None, {**base, "decks": public})
    for match, commitment in fixed:
        if embargo[match]:
            data = {**base, "decks": [(match, commitment)]}
            yield NewLeaf(LeafKind.DECKS_FIXED, None, data, match)


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

    A dead game does not count as open, because an operator may never look at it. If it
    is played after all, its match gets other decks.
    """
    revealed = 0
    for batch in batches.closed():
        with transaction.atomic():
            # No plan gets decks meanwhile, and none that is logged waits for them.
            LogHead.objects.select_for_update().get()
            games = Game.objects.filter(status__in=OPEN, match__batch=batch)
            if not games.exists() and batch.number not in _waited_for():
                batches.reveal(batch, key)
                revealed += 1
    return revealed


def _waited_for() -> set[int]:
    return {plan.batch for plan in sql.logged_plans()}
