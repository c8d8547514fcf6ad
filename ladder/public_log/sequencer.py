"""Number the leaves that wait, grow the tree, and sign its new head.

One process does this: the dispatcher. A checkpoint that was signed must agree with all
later ones. So before it signs, the sequencer compares the database with a file beside
the key, which has the last head that was signed. If the database is behind, it was
restored from a backup, and the log continues under another name and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from ladder.public_log import tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKey
from ladder.public_log.models import (
    DeckBatch,
    LogBundle,
    LogHead,
    LogLeaf,
    LogTile,
    PendingLeaf,
    SealedLeaf,
)
from ladder.tlog.checkpoints import TreeHead
from ladder.tlog.leaves import LeafKind, canonical, leaf_text, new_salt, seal
from ladder.tlog.merkle import EMPTY_ROOT, Frontier, leaf_hash
from ladder.tlog.notes import SignedNote
from ladder.tlog.tiles import TILE_WIDTH, subtree_root

LEAVES_AT_ONCE = 2000
LOOKED_UP = (
    LeafKind.SUBMISSION_ACCEPTED,
    LeafKind.MATCH_PLANNED,
    LeafKind.GAME_FINISHED,
    LeafKind.GAME_ENDED,
    LeafKind.GAME_VOIDED,
    LeafKind.BATCH_REVEALED,
    LeafKind.UNSEALED,
)
"""The kinds whose rows stay, so that receipts and overdue matches can be found."""


@dataclass(frozen=True, slots=True)
class NumberedLeaf:
    """A leaf that gets its number now."""

    number: int
    kind: str
    subject: int | None
    text: bytes


def sequence(key: LogKey, head_file: HeadFile) -> int:
    """Number the leaves that wait; return how many. Idempotent.

    1. Lock the head. If the database was restored, continue under another name.
    2. Give the waiting leaves the next numbers, in the order in which they were
       written. Commitments come first, so that they precede every plan.
    3. Store the leaves, complete tiles and bundles, and the signed head.
    4. After the commit, write the signed head into the file.
    """
    numbered = 0
    while True:
        step = _sequence_some(key, head_file)
        numbered += step
        if step < LEAVES_AT_ONCE:
            return numbered


def mark_restored() -> None:
    """Let the log continue under another name, because the database was restored.

    Leaves that were signed after the backup may be missing on a machine that never
    wrote the file with the last head.
    """
    LogHead.objects.update(restored=True)


def _sequence_some(key: LogKey, head_file: HeadFile) -> int:
    with transaction.atomic():
        head, first = _locked_head(key)
        first += _continue_if_restored(head, head_file)
        commits = PendingLeaf.objects.filter(kind=LeafKind.BATCH_COMMITTED)
        others = PendingLeaf.objects.exclude(kind=LeafKind.BATCH_COMMITTED)
        waiting = [
            *first,
            *commits.order_by("id"),
            *others.order_by("id")[:LEAVES_AT_ONCE],
        ]
        leaves = [_numbered(head.size + i, row) for i, row in enumerate(waiting)]
        if not leaves:
            return 0
        frontier = Frontier.load(head.size, bytes(head.frontier))
        _store(leaves, frontier)
        stored = [row.pk for row in waiting if row.pk]
        PendingLeaf.objects.filter(pk__in=stored).delete()
        signed = TreeHead(head.origin, frontier.size, frontier.root())
        _sign(head, signed, frontier, key)
    head_file.write(signed)
    return len(leaves)


def _locked_head(key: LogKey) -> tuple[LogHead, list[PendingLeaf]]:
    """Return the head of the log under a lock. The first call begins the log."""
    head = LogHead.objects.select_for_update().first()
    if head is not None:
        return head, []
    origin = key.signing.name
    head = LogHead.objects.create(pk=1, origin=origin, root=EMPTY_ROOT)
    return head, [_own_leaf(LeafKind.LOG_STARTED, {"name": origin})]


def _own_leaf(kind: LeafKind, data: dict[str, Any]) -> PendingLeaf:
    """Return a leaf about the log itself, which gets its number at once."""
    return PendingLeaf(kind=kind, data=canonical(data), created_at=timezone.now())


def _continue_if_restored(head: LogHead, head_file: HeadFile) -> list[PendingLeaf]:
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
    return [_own_leaf(LeafKind.LOG_RESTORED, {**data, "name": head.origin})]


def _is_behind(head: LogHead, seen: TreeHead) -> bool:
    if seen.origin != head.origin:
        return False
    if seen.size == head.size:
        return seen.root != bytes(head.root)
    return seen.size > head.size


def _numbered(number: int, row: PendingLeaf) -> NumberedLeaf:
    text = leaf_text(row.kind, row.created_at, row.data)
    if row.seal is not None:
        salt = new_salt()
        SealedLeaf.objects.create(number=number, match=row.seal, salt=salt, text=text)
        data = canonical({"hash": seal(salt, text)})
        text = leaf_text(LeafKind.SEALED, row.created_at, data)
    if row.kind == LeafKind.BATCH_COMMITTED:
        DeckBatch.objects.filter(number=row.subject or 0).update(leaf=number)
    return NumberedLeaf(number, row.kind, row.subject, text.encode())


def _store(leaves: Sequence[NumberedLeaf], frontier: Frontier) -> None:
    """Store leaves, and the tiles and bundles that they complete."""
    rows = []
    for leaf in leaves:
        hash_ = leaf_hash(leaf.text)
        frontier.append(hash_)
        rows.append(
            LogLeaf(
                number=leaf.number,
                kind=leaf.kind,
                subject=leaf.subject,
                hash=hash_,
                text=leaf.text.decode(),
            )
        )
    LogLeaf.objects.bulk_create(rows)
    before = leaves[0].number // TILE_WIDTH
    for index in range(before, frontier.size // TILE_WIDTH):
        _complete_bundle(index)


def _complete_bundle(index: int) -> None:
    """Move 256 leaves into a bundle and a tile, and add the tiles above."""
    start = index * TILE_WIDTH
    rows = LogLeaf.objects.filter(number__gte=start, number__lt=start + TILE_WIDTH)
    leaves = list(rows.order_by("number"))
    texts = [leaf.text.encode() for leaf in leaves]
    LogBundle.objects.create(index=index, data=tree.packed(texts))
    rows.exclude(kind__in=LOOKED_UP).delete()
    rows.update(hash=b"", text="")
    hashes = b"".join(bytes(leaf.hash) for leaf in leaves)
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
    signature = key.signer(head.origin).sign(text)
    LogHead.objects.filter(pk=head.pk).update(
        origin=signed.origin,
        size=signed.size,
        root=signed.root,
        frontier=frontier.dump(),
        checkpoint=str(SignedNote(text, [signature])),
        key=str(key.signer(head.origin).verifier),
        signed_at=Now(),
        restored=False,
    )


def _next_name(origin: str) -> str:
    """Return the name of a log after a restore: "host/log/2" follows "host/log"."""
    name, _, number = origin.rpartition("/")
    if name and number.isdigit():
        return f"{name}/{int(number) + 1}"
    return f"{origin}/2"
