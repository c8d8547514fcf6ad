"""Copy a public log over HTTP, and prove that its tree is the signed one.

The copy stays in a folder. The next audit reads only new leaves, and notices if the
log no longer begins with the copied leaves.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from torres.auditing.findings import AuditFinding, Check
from torres.common.whole_file import write_whole
from torres.tlog.checkpoints import TreeHead, open_checkpoint, parse_head
from torres.tlog.merkle import Frontier, leaf_hash
from torres.tlog.notes import BadNote, VerifierKey, cosigned_at, parse_note
from torres.tlog.tiles import BUNDLES, TILE_WIDTH, tile_path, unpack_bundle

CHECKPOINT = "checkpoint"
SEEN = "seen"
"""A folder with the checkpoints of all audits, by the sizes of their trees."""
KEY = "key"

Fetch = Callable[[str], bytes]
"""Returns the contents of a path of the log. Raises OSError if that is impossible."""
Progress = Callable[[str, int, int], None]
"""Is told a step, how much of it is done, and how much there is."""


class AuditFailed(Exception):
    """The audit cannot go on; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class LogCopy:
    """The leaves of a log, and the roots that its tree had at all sizes asked for.

    `seen` are the sizes of trees that were signed, as far as somebody has seen them.
    """

    head: TreeHead
    leaves: list[bytes]
    roots: dict[int, bytes]
    seen: set[int] = field(default_factory=set)

    @classmethod
    def build(cls, head: TreeHead, leaves: list[bytes]) -> "LogCopy":
        frontier = Frontier()
        roots = {0: frontier.root()}
        for leaf in leaves:
            frontier.append(leaf_hash(leaf))
            roots[frontier.size] = frontier.root()
        return cls(head, leaves, roots)


def trusted_key(folder: Path, fetch: Fetch, given: str | None) -> VerifierKey:
    """Return the key of the log: a given one, the one in the folder, or its own.

    The first audit without a given key trusts the key that the service sends.
    """
    file = folder / KEY
    if given is None and file.exists():
        return VerifierKey.parse(file.read_text())
    key = VerifierKey.parse(given or fetch_text(fetch, KEY))
    write_whole(file, f"{key}\n")
    return key


def fetch_text(fetch: Fetch, path: str) -> str:
    """Return a text of the log. Raises AuditFailed if it is no text."""
    try:
        return fetch(path).decode()
    except UnicodeDecodeError:
        raise AuditFailed(f"The log sent bytes as its {path}, and no text.") from None


def signed_size(fetch: Fetch, key: VerifierKey) -> int:
    """Return how many leaves the log has now. Raises AuditFailed."""
    return _signed_head(fetch, key)[0].size


def _signed_head(fetch: Fetch, key: VerifierKey) -> tuple[TreeHead, str]:
    """Return the head of the newest checkpoint, and its text. Raises AuditFailed."""
    text = fetch_text(fetch, CHECKPOINT)
    try:
        head, _ = open_checkpoint(text, key)
    except BadNote as error:
        raise AuditFailed(
            f"The checkpoint of the log is not to be trusted: {error}. If the log was"
            " restored, it has another key: read /log/, and start with a new folder."
        ) from None
    return head, text


def copy_log(
    folder: Path, fetch: Fetch, key: VerifierKey, progress: Progress
) -> tuple[LogCopy, list[AuditFinding]]:
    """Copy what is new, and compare it with the signed checkpoint and the old copy.

    Raises AuditFailed if the log is not signed by the key, or is not whole.
    """
    head, text = _signed_head(fetch, key)
    copy = LogCopy.build(head, _leaves(folder, fetch, head.size, progress))
    findings = []
    if copy.roots[head.size] != head.root:
        # Some leaves are from an earlier audit. A log that was forked since then has
        # others, which have to be asked for to tell a fork from a damaged log.
        copy = LogCopy.build(head, _leaves(None, fetch, head.size, progress))
        if copy.roots[head.size] != head.root:
            raise AuditFailed(
                "The leaves of the log do not have the root that the log has signed."
                " Keep the folder: it is the evidence."
            )
        what = f"the log has other leaves now than those that {folder} has of it"
        findings.append(AuditFinding(Check.FORK, what))
    findings += _older(folder, copy, key)
    if not findings:
        (folder / CHECKPOINT).write_text(text)
        seen = folder / SEEN
        seen.mkdir(exist_ok=True)
        (seen / str(head.size)).write_text(text)
        copy.seen.update(int(file.name) for file in seen.iterdir())
    return copy, findings


def _leaves(
    folder: Path | None, fetch: Fetch, size: int, progress: Progress
) -> list[bytes]:
    """Return all leaves. Complete bundles are kept in the folder, and read from it.

    Without a folder all of them are fetched, and none is kept.
    """
    leaves: list[bytes] = []
    for index in range(ceil(size / TILE_WIDTH)):
        width = min(TILE_WIDTH, size - index * TILE_WIDTH)
        path = tile_path(BUNDLES, index, width)
        file = folder / path if folder and width == TILE_WIDTH else None
        is_here = file is not None and file.exists()
        data = file.read_bytes() if file and is_here else fetch(path)
        try:
            bundle = unpack_bundle(data)
        except ValueError as error:
            raise AuditFailed(f"The log sent a bad bundle: {error}.") from None
        if len(bundle) != width:
            raise AuditFailed(f"The log sent {len(bundle)} leaves instead of {width}.")
        if file and not is_here:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        leaves += bundle
        progress("leaves", len(leaves), size)
    return leaves


def _older(folder: Path, copy: LogCopy, key: VerifierKey) -> Iterable[AuditFinding]:
    """Yield a finding if the log does not begin with the tree of the last audit."""
    file = folder / CHECKPOINT
    if not file.exists():
        return
    try:
        old, _ = open_checkpoint(file.read_text(), key)
    except BadNote:
        return  # of another key: the log was restored, and says so
    if old.size > copy.head.size:
        yield AuditFinding(
            Check.FORK,
            f"the log has shrunk from {old.size} to {copy.head.size} leaves since the"
            " last audit",
        )
    elif copy.roots[old.size] != old.root:
        yield AuditFinding(
            Check.FORK,
            f"the first {old.size} leaves are not those of the last audit: the log was"
            f" forked. {file} is signed by the log and proves it",
        )


def compare_with_witness(
    copy: LogCopy, text: str, witness: VerifierKey | None = None
) -> Iterator[AuditFinding]:
    """Yield a finding if the log is not the one that a witness has seen.

    `text` is a checkpoint that the witness has kept. Without the key of the witness its
    cosignature is not checked.
    """
    if problem := _split_view(copy, text, witness):
        yield AuditFinding(Check.SPLIT_VIEW, problem)


def _split_view(copy: LogCopy, text: str, witness: VerifierKey | None) -> str:
    """Return what is wrong between the log and a witness's checkpoint, or ""."""
    try:
        note = parse_note(text)
        seen = parse_head(note)
        signature = witness.signed(note) if witness else None
    except BadNote as error:
        return f"the witness's checkpoint is bad: {error}"
    if witness is not None and signature is None:
        return f"{witness.name} has not signed this"
    if seen.origin != copy.head.origin:
        return f"the witness saw the log {seen.origin}"
    when = f" at {cosigned_at(signature)}" if signature else ""
    if seen.size > copy.head.size:
        return (
            f"the witness saw {seen.size} leaves{when}, and here are only"
            f" {copy.head.size}: ask again, and if that stays, others see more"
        )
    if copy.roots[seen.size] != seen.root:
        return (
            f"the witness saw other leaves{when}: the log shows different trees to"
            " different people"
        )
    if signature is not None:
        copy.seen.add(seen.size)
    return ""
