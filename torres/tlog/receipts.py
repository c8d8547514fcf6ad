"""Receipts: proofs in one file that a leaf is in the log (C2SP tlog-proof).

A receipt contains the path from the leaf to the root, and a signed checkpoint. Its
"extra" line holds the data that explain the leaf: the leaf itself, the plan of the
match, and the secret of the decks once it is public.
"""

import binascii
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torres.tlog.checkpoints import TreeHead, open_checkpoint
from torres.tlog.merkle import HASH_BYTES, includes, leaf_hash
from torres.tlog.notes import BadNote, SignedNote, VerifierKey, decoded

FIRST_LINE = "c2sp.org/tlog-proof@v1"
SUFFIX = ".tlog-proof"
MAX_RECEIPT_BYTES = 64 << 10
_MAX_EXTRA_BYTES = 256 << 10
_MAX_HASHES = 64


class BadReceipt(ValueError):
    """A file is not a receipt, or proves nothing; the text says why."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt as it was read. Nothing is checked before `verify`.

    `extra` has the texts "leaf" and perhaps "plan", "deal_plan" and "secret".
    """

    index: int
    proof: Sequence[bytes]
    checkpoint: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def dump(self) -> str:
        """Return the receipt as the text of a file."""
        packed = zlib.compress(json.dumps(dict(self.extra)).encode(), 9)
        lines = [
            FIRST_LINE,
            f"extra {b64encode(packed).decode()}",
            f"index {self.index}",
            *(b64encode(hash_).decode() for hash_ in self.proof),
            "",
            self.checkpoint,
        ]
        return "\n".join(lines)

    def verify(self, key: VerifierKey) -> tuple[TreeHead, SignedNote]:
        """Check that the leaf is in a tree that the log has signed.

        Raises BadReceipt.
        """
        leaf = self.extra.get("leaf")
        if leaf is None:
            raise BadReceipt("the receipt does not contain its leaf")
        try:
            head, note = open_checkpoint(self.checkpoint, key)
        except BadNote as error:
            raise BadReceipt(str(error)) from None
        hash_ = leaf_hash(leaf.encode())
        if not includes(head.root, head.size, self.index, hash_, self.proof):
            raise BadReceipt("the leaf is not in the tree that the log has signed")
        return head, note


def parse_receipt(text: str) -> Receipt:
    """Return the receipt that a file contains. Raises BadReceipt."""
    if len(text) > MAX_RECEIPT_BYTES:
        raise BadReceipt(f"a receipt is no longer than {MAX_RECEIPT_BYTES} bytes")
    above, _, checkpoint = text.partition("\n\n")
    lines = above.split("\n")
    if lines.pop(0) != FIRST_LINE:
        raise BadReceipt(f"a receipt begins with {FIRST_LINE}")
    extra = {}
    if lines and lines[0].startswith("extra "):
        extra = _extra(lines.pop(0).removeprefix("extra "))
    number = lines.pop(0).removeprefix("index ") if lines else ""
    if not (number.isascii() and number.isdigit()):
        raise BadReceipt("the receipt has no index")
    hashes = [decoded(line) for line in lines]
    proof = [hash_ for hash_ in hashes if hash_ is not None]
    if len(proof) != len(lines) or any(len(hash_) != HASH_BYTES for hash_ in proof):
        raise BadReceipt("the receipt has a line that is not a hash")
    if len(proof) > _MAX_HASHES:
        raise BadReceipt("the receipt has more hashes than a tree can need")
    return Receipt(int(number[:20]), proof, checkpoint, extra)


def _extra(encoded: str) -> dict[str, str]:
    """Return the texts of an "extra" line, which may unpack to a bounded size only."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(b64decode(encoded, validate=True), _MAX_EXTRA_BYTES)
        document = json.loads(text)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        raise BadReceipt("the extra line of the receipt cannot be read") from None
    if not isinstance(document, dict):
        raise BadReceipt("the extra line of the receipt cannot be read")
    return {
        str(key): value for key, value in document.items() if isinstance(value, str)
    }
