"""Checkpoints (C2SP tlog-checkpoint): the signed state of a log's tree."""

from base64 import b64encode
from dataclasses import dataclass

from torres.tlog.merkle import HASH_BYTES
from torres.tlog.notes import BadNote, SignedNote, VerifierKey, decoded, parse_note

_MANDATORY_LINES = 3


@dataclass(frozen=True, slots=True)
class TreeHead:
    """The size and the root of a log's tree. `origin` is the identity of the log."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


def parse_head(note: SignedNote) -> TreeHead:
    """Return what a checkpoint says. No signature is checked. Raises BadNote."""
    lines = note.text.removesuffix("\n").split("\n")
    if len(lines) < _MANDATORY_LINES or not all(lines):
        raise BadNote("the checkpoint does not have its three lines")
    origin, size, root = lines[:_MANDATORY_LINES]
    hash_ = decoded(root)
    is_number = size.isascii() and size.isdigit() and str(int(size[:20])) == size
    if not is_number or hash_ is None or len(hash_) != HASH_BYTES:
        raise BadNote("the checkpoint has no size or no root")
    return TreeHead(origin, int(size), hash_)


def open_checkpoint(text: str, key: VerifierKey) -> tuple[TreeHead, SignedNote]:
    """Return a checkpoint that the log with this key has signed.

    Raises BadNote if it is not signed by the key, or says that it is another log's.
    """
    note = parse_note(text)
    if key.signed(note) is None:
        raise BadNote(f"the key of {key.name} has not signed the checkpoint")
    head = parse_head(note)
    if head.origin != key.name:
        raise BadNote(f"the checkpoint is one of {head.origin}, not of {key.name}")
    return head, note
