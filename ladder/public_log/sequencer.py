"""Number the leaves that wait, grow the tree, and sign its new head.

One process does this: the dispatcher. A checkpoint that was signed must agree with all
later ones. So before it signs, the sequencer compares the database with a file beside
the key, which has the last head that was signed. If the database is behind, it was
restored from a backup, and the log continues under another name and says so.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ladder.common.fixed_query import insert_rows
from ladder.events import stream
from ladder.events.models import Fact
from ladder.events.outbox import NewLeaf
from ladder.public_log import batches, tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKey, refuse_another
from ladder.public_log.models import (
    DeckBatch,
    LogBundle,
    LogHead,
    LogLeaf,
    LogTile,
    SealedLeaf,
)
from torres.tlog.checkpoints import TreeHead
from torres.tlog.leaves import LeafKind, canonical, leaf_text, new_salt, seal
from torres.tlog.merkle import Frontier, leaf_hash
from torres.tlog.notes import SignedNote
from torres.tlog.tiles import TILE_WIDTH, subtree_root

LEAVES_AT_ONCE = 2000
_LEAVES = LogLeaf._meta.db_table  # noqa: SLF001 -- the documented way to its name
LOOKED_UP = (
    LeafKind.SUBMISSION_ACCEPTED,
    LeafKind.MATCH_PLANNED,
    LeafKind.DECKS_RENEWED,
    LeafKind.GAME_FINISHED,
    LeafKind.GAME_ENDED,
    LeafKind.GAME_VOIDED,
    LeafKind.BATCH_REVEALED,
    LeafKind.UNSEALED,
)
"""The kinds whose rows stay, so that receipts and overdue matches can be found."""
ASKS_FOR_DECKS = (LeafKind.MATCH_PLANNED, LeafKind.DECKS_RENEWED)

Dealer = Callable[[LogHead], list[NewLeaf] | None]
"""Fixes the decks of all plans in the signed tree, and returns leaves that say so.

It returns None while it waits for cosignatures on this tree. It is called in the
transaction that holds the lock of the head.
"""


class _Step(NamedTuple):
    """How many leaves got numbers at once, and if there may be more to do."""

    numbered: int
    goes_on: bool


class _WaitingLeaf(NamedTuple):
    """A leaf that waits for its number, as the outbox has it.

    `fact` is the number of its fact; None if the leaf is about the log itself.
    """

    fact: int | None
    created_at: datetime
    kind: str
    subject: int | None
    seal: int | None
    data: str


class NumberedLeaf(NamedTuple):
    """The columns of a `LogLeaf` without its hash, which follows from the text."""

    number: int
    kind: str
    subject: int | None
    text: str


_FACT_COLUMNS = (
    *("number", "created_at"),
    *("leaf_kind", "leaf_subject", "leaf_seal", "leaf_data"),
)


def sequence(key: LogKey, head_file: HeadFile, deal: Dealer) -> int:
    """Number the leaves that wait; return how many. Idempotent.

    1. Lock the head. Fix the decks of the plans in the tree; these leaves come first.
       So no tree is signed after the first one with a plan before its decks are fixed.
    2. If the database was restored, continue under another name.
    3. Give the waiting leaves the next numbers, in the order of their facts.
       Commitments precede every plan, and each plan names the newest batch.
    4. Store the leaves, complete tiles and bundles, and the signed head.
    5. After the commit, write the signed head into the file.
    """
    stream.number_waiting()
    numbered = 0
    goes_on = True
    while goes_on:
        step = _sequence_some(key, head_file, deal)
        numbered += step.numbered
        goes_on = step.goes_on
    return numbered


def oldest_needed() -> int | None:
    """Return the number of the first fact whose leaf waits; None if none does."""
    head = tree.head()
    waiting = _waiting(head.last_fact if head else 0)
    return waiting.values_list("number", flat=True).first()


def mark_restored() -> None:
    """Let the log continue under another name, because the database was restored.

    Leaves that were signed after the backup may be missing on a machine that never
    wrote the file with the last head.
    """
    LogHead.objects.update(restored=True)


@transaction.atomic
def give_up_key() -> None:
    """Let the log continue under another name and key, because the key is lost.

    The secrets that follow from the lost key stay secret, and audits say so. Matches
    that have no decks yet get them from a batch of the new key.
    """
    LogHead.objects.update(restored=True, key="")
    DeckBatch.objects.filter(revealed_at=None).update(revealed_at=Now())


def _waiting(last_fact: int) -> QuerySet[Fact]:
    facts = Fact.objects.filter(number__gt=last_fact).exclude(leaf_kind="")
    return facts.order_by("number")


def _waiting_leaves(last_fact: int) -> list[_WaitingLeaf]:
    """Return the first leaves that wait. If one is to be sealed, their rows are locked.

    The lock makes `sealing.unseal` wait, or waits for it. It costs a write for each
    row, and few leaves are sealed.
    """
    rows = _waiting(last_fact).values_list(*_FACT_COLUMNS)
    leaves = [_WaitingLeaf(*row) for row in rows[:LEAVES_AT_ONCE]]
    if any(leaf.seal is not None for leaf in leaves):
        locked = rows.select_for_update()
        leaves = [_WaitingLeaf(*row) for row in locked[:LEAVES_AT_ONCE]]
    return leaves


def _sequence_some(key: LogKey, head_file: HeadFile, deal: Dealer) -> _Step:
    with transaction.atomic():
        head, own = _locked_head(key)
        fixed = deal(head) if head.size else []
        if fixed is None:
            return _Step(0, goes_on=False)
        own = [*(_leaf_of(leaf) for leaf in fixed), *own]
        restored = _continue_if_restored(head, head_file)
        if restored and head.key and DeckBatch.objects.exists():
            batches.begin_anew(key)  # after another key all secrets are new
        own += restored
        facts = _waiting_leaves(head.last_fact)
        has_plans = any(fact.kind in ASKS_FOR_DECKS for fact in facts)
        open_batches = batches.usable(key) if has_plans else batches.open_batches()
        facts = [_with_batch(fact, open_batches) for fact in facts]
        waiting = [*own, *_commitments(open_batches), *facts]
        if not waiting:
            return _Step(0, goes_on=False)
        if facts:
            head.last_fact = facts[-1].fact or 0
        frontier = Frontier.load(head.size, bytes(head.frontier))
        _store(_numbered(head.size, waiting), frontier)
        signed = TreeHead(head.origin, frontier.size, frontier.root())
        _sign(head, signed, frontier, key)
    head_file.write(signed)
    return _Step(len(waiting), has_plans or len(facts) == LEAVES_AT_ONCE)


def _locked_head(key: LogKey) -> tuple[LogHead, list[_WaitingLeaf]]:
    """Return the head of the log under a lock, and the first leaf if there is none.

    Raises LogKeyRefused if the log has another key.
    """
    head = LogHead.objects.select_for_update().get()
    refuse_another(key, head)
    if head.size:
        return head, []
    started = NewLeaf(LeafKind.LOG_STARTED, None, {"name": head.origin})
    return head, [_leaf_of(started)]


def _with_batch(fact: _WaitingLeaf, open_batches: Sequence[DeckBatch]) -> _WaitingLeaf:
    """Let a plan name the batch of its decks, which is the newest usable one.

    The process that plans cannot know which batch will be the newest in the log.
    """
    if fact.kind not in ASKS_FOR_DECKS:
        return fact
    data = json.loads(fact.data)
    if "decks" not in data:  # the service draws the seeds
        return fact
    usable = [batch.number for batch in open_batches if batch.revealed_at is None]
    data["decks"]["batch"] = usable[-1]
    return fact._replace(data=canonical(data))


def _leaf_of(leaf: NewLeaf, created_at: datetime | None = None) -> _WaitingLeaf:
    """Return a leaf about the log itself, which gets its number at once."""
    moment = created_at or timezone.now()
    data = canonical(leaf.data)
    return _WaitingLeaf(None, moment, leaf.kind.value, leaf.subject, leaf.seal, data)


def _commitments(open_batches: Sequence[DeckBatch]) -> list[_WaitingLeaf]:
    """Return the leaves of the batches of decks that have none yet."""
    return [
        _leaf_of(
            NewLeaf(
                LeafKind.BATCH_COMMITTED,
                batch.number,
                {
                    "batch": batch.number,
                    "commitment": batch.commitment,
                    "witnesses": batch.witnesses,
                },
            ),
            batch.created_at,
        )
        for batch in open_batches
        if batch.leaf is None
    ]


def _continue_if_restored(head: LogHead, head_file: HeadFile) -> list[_WaitingLeaf]:
    """Give the log another name if a tree was signed that the database lacks.

    Return the leaf that says so.
    """
    seen = head_file.read()
    is_behind = seen is not None and _is_behind(head, seen)
    if not (head.restored or is_behind):
        return []
    lost = {"signed": seen.size} if seen is not None and is_behind else {}
    data = {"from": head.origin, "size": head.size, **lost}
    head.origin = _next_name(head.origin)
    data["name"] = head.origin
    return [_leaf_of(NewLeaf(LeafKind.LOG_RESTORED, None, data))]


def _is_behind(head: LogHead, seen: TreeHead) -> bool:
    if seen.origin != head.origin:
        return False
    if seen.size == head.size:
        return seen.root != bytes(head.root)
    return seen.size > head.size


def _numbered(first: int, waiting: Sequence[_WaitingLeaf]) -> list[NumberedLeaf]:
    """Give leaves the numbers from `first` on, and seal what is not public."""
    leaves = []
    sealed = []
    for number, leaf in enumerate(waiting, first):
        text = leaf_text(leaf.kind, leaf.created_at, leaf.data)
        if leaf.seal is not None:
            salt = new_salt()
            sealed.append(
                SealedLeaf(number=number, match=leaf.seal, salt=salt, text=text)
            )
            data = canonical({"hash": seal(salt, text)})
            text = leaf_text(LeafKind.SEALED, leaf.created_at, data)
        if leaf.kind == LeafKind.BATCH_COMMITTED:
            DeckBatch.objects.filter(number=leaf.subject or 0).update(leaf=number)
        leaves.append(NumberedLeaf(number, leaf.kind, leaf.subject, text))
    SealedLeaf.objects.bulk_create(sealed)
    return leaves


def _store(leaves: Sequence[NumberedLeaf], frontier: Frontier) -> None:
    """Store leaves, and the tiles and bundles that they complete."""
    first = frontier.size // TILE_WIDTH
    rows = [(*leaf, leaf_hash(leaf.text.encode())) for leaf in leaves]
    for row in rows:
        frontier.append(row[-1])
    insert_rows(_LEAVES, (*NumberedLeaf._fields, "hash"), rows)
    for index in range(first, frontier.size // TILE_WIDTH):
        _complete_bundle(index)


def _complete_bundle(index: int) -> None:
    """Store 256 leaves as a bundle and a tile, and add the tiles above.

    Only the rows of leaves that are looked up stay, without their texts.
    """
    start = index * TILE_WIDTH
    rows = LogLeaf.objects.filter(number__gte=start, number__lt=start + TILE_WIDTH)
    leaves = list(rows.order_by("number").values_list("text", "hash"))
    texts = [text.encode() for text, _ in leaves]
    LogBundle.objects.create(index=index, data=tree.packed(texts))
    rows.exclude(kind__in=LOOKED_UP).delete()
    rows.update(hash=b"", text="")
    hashes = b"".join(bytes(hash_) for _, hash_ in leaves)
    level = 0
    while hashes:
        root = subtree_root(hashes)
        LogTile.objects.create(level=level, index=index, hashes=hashes, root=root)
        level += 1
        index, last = divmod(index, TILE_WIDTH)
        is_complete = last == TILE_WIDTH - 1
        hashes = tree.roots_below(level, index) if is_complete else b""


def _sign(head: LogHead, signed: TreeHead, frontier: Frontier, key: LogKey) -> None:
    """Store the new head with its signature."""
    text = signed.text()
    signer = key.signer(signed.origin)
    head.size = signed.size
    head.root = signed.root
    head.frontier = frontier.dump()
    head.checkpoint = str(SignedNote(text, [signer.sign(text)]))
    head.key = str(signer.verifier)
    head.signed_at = timezone.now()
    head.restored = False
    head.save()


def _next_name(origin: str) -> str:
    """Return the name of a log after a restore: "host/log/2" follows "host/log"."""
    name, _, number = origin.rpartition("/")
    if name and number.isdigit():
        return f"{name}/{int(number) + 1}"
    return f"{origin}/2"
