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
from django.utils import timezone

from ladder.public_log import sql, tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKey
from ladder.public_log.models import DeckBatch, LogHead
from ladder.public_log.sql import LeafRow, SealedRow, TakenRow
from torres.tlog.checkpoints import TreeHead
from torres.tlog.leaves import LeafKind, canonical, leaf_text, new_salt, seal
from torres.tlog.merkle import EMPTY_ROOT, Frontier, leaf_hash
from torres.tlog.notes import SignedNote
from torres.tlog.tiles import TILE_WIDTH, subtree_root

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
        waiting = [*first, *sql.take_pending(LEAVES_AT_ONCE)]
        if not waiting:
            return 0
        frontier = Frontier.load(head.size, bytes(head.frontier))
        _store(_numbered(head.size, waiting), frontier)
        signed = TreeHead(head.origin, frontier.size, frontier.root())
        _sign(head, signed, frontier, key)
    head_file.write(signed)
    return len(waiting)


def _locked_head(key: LogKey) -> tuple[LogHead, list[TakenRow]]:
    """Return the head of the log under a lock. The first call begins the log."""
    head = sql.lock_head()
    if head is not None:
        return head, []
    origin = key.signing.name
    head = LogHead.objects.create(pk=1, origin=origin, root=EMPTY_ROOT)
    return head, [_own_leaf(LeafKind.LOG_STARTED, {"name": origin})]


def _own_leaf(kind: LeafKind, data: dict[str, Any]) -> TakenRow:
    """Return a leaf about the log itself, which gets its number at once."""
    return TakenRow(0, kind.value, None, None, canonical(data), timezone.now())


def _continue_if_restored(head: LogHead, head_file: HeadFile) -> list[TakenRow]:
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


def _numbered(first: int, rows: Sequence[TakenRow]) -> list[NumberedLeaf]:
    """Give rows the numbers from `first` on, and seal what is not public."""
    leaves = []
    sealed = []
    for number, row in enumerate(rows, first):
        text = leaf_text(row.kind, row.created_at, row.data)
        if row.seal is not None:
            salt = new_salt()
            sealed.append(SealedRow(number, row.seal, salt, text))
            data = canonical({"hash": seal(salt, text)})
            text = leaf_text(LeafKind.SEALED, row.created_at, data)
        if row.kind == LeafKind.BATCH_COMMITTED:
            DeckBatch.objects.filter(number=row.subject or 0).update(leaf=number)
        leaves.append(NumberedLeaf(number, row.kind, row.subject, text.encode()))
    if sealed:
        sql.insert_sealed(sealed)
    return leaves


def _store(leaves: Sequence[NumberedLeaf], frontier: Frontier) -> None:
    """Store leaves, and the tiles and bundles that they complete."""
    rows = []
    for leaf in leaves:
        hash_ = leaf_hash(leaf.text)
        frontier.append(hash_)
        text = leaf.text.decode()
        rows.append(LeafRow(leaf.number, leaf.kind, leaf.subject, hash_, text))
    start = rows[0].number // TILE_WIDTH * TILE_WIDTH
    if frontier.size >= start + TILE_WIDTH:
        rows = _complete_bundles([*sql.take_leaves(start), *rows])
    sql.insert_leaves(rows)


def _complete_bundles(rows: Sequence[LeafRow]) -> list[LeafRow]:
    """Store complete bundles of these leaves, the first of which begins a bundle.

    Return the rows that LogLeaf needs: leaves that are looked up, without their texts,
    and those of the bundle that is not complete.
    """
    end = len(rows) // TILE_WIDTH * TILE_WIDTH
    for start in range(0, end, TILE_WIDTH):
        _complete_bundle(rows[start : start + TILE_WIDTH])
    looked_up = [
        row._replace(hash=b"", text="") for row in rows[:end] if row.kind in LOOKED_UP
    ]
    return [*looked_up, *rows[end:]]


def _complete_bundle(rows: Sequence[LeafRow]) -> None:
    """Store 256 leaves as a bundle and a tile, and add the tiles above."""
    index = rows[0].number // TILE_WIDTH
    texts = [row.text.encode() for row in rows]
    sql.insert_bundle(index, tree.packed(texts))
    hashes = b"".join(row.hash for row in rows)
    level = 0
    while hashes:
        root = subtree_root(hashes)
        sql.insert_tile(level, index, hashes, root)
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
    sql.update_head(head)


def _next_name(origin: str) -> str:
    """Return the name of a log after a restore: "host/log/2" follows "host/log"."""
    name, _, number = origin.rpartition("/")
    if name and number.isdigit():
        return f"{name}/{int(number) + 1}"
    return f"{origin}/2"
