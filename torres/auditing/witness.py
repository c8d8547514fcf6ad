"""Watch a public log, and cosign its checkpoints as long as it only grows."""

import time
from dataclasses import dataclass
from pathlib import Path

from torres.auditing.mirror import (
    CHECKPOINT,
    AuditFailed,
    Fetch,
    fetch_text,
    trusted_key,
)
from torres.common.locks import locked
from torres.common.pause import pause
from torres.common.whole_file import write_whole
from torres.common.write_once import write_once
from torres.tlog.checkpoints import TreeHead, open_checkpoint
from torres.tlog.merkle import HASH_BYTES, consistency_proof, is_consistent
from torres.tlog.notes import COSIGNATURE, BadNote, SigningKey
from torres.tlog.tiles import TileAddress, TileTree, tile_path

KEY_FILE = "witness.key"
LOCK = "lock"
LOCK_PAUSE_S = 0.05
SIZES = "sizes"
"""A file with the size of each tree that the witness has cosigned, one in a line."""


@dataclass(frozen=True, slots=True)
class SeenCheckpoint:
    """A checkpoint that a witness has cosigned, with its text."""

    head: TreeHead
    text: str


def witness_key(folder: Path, name: str) -> SigningKey:
    """Return the key of the witness in a folder; make one if there is none.

    Raises BadKey if the name or the file is not valid.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = SigningKey.generate(name, COSIGNATURE)
    return SigningKey.parse(write_once(folder / KEY_FILE, new.dump))


def cosigned_sizes(folder: Path) -> set[int]:
    """Return the sizes of the trees that a witness has cosigned. Raises OSError."""
    file = folder / SIZES
    lines = file.read_text().split() if file.exists() else []
    return {int(line) for line in lines if line.isascii() and line.isdigit()}


class Witness:
    """Remembers one checkpoint of one log. It stores each before it signs it."""

    def __init__(self, folder: Path, key: SigningKey, fetch: Fetch) -> None:
        self._folder = folder
        self._key = key
        self._fetch = fetch
        self._log_key = trusted_key(folder, fetch, None)

    def look(self) -> SeenCheckpoint:
        """Read the newest checkpoint, check that the log has only grown, and cosign it.

        A tree gets one cosignature only: decks follow from it, and the operator must
        not have several to choose from. Other processes with the same folder look
        before or after. Raises AuditFailed, with what to do, if the log did anything
        else.
        """
        while True:
            with locked(self._folder / LOCK) as is_ours:
                if is_ours:
                    return self._look()
            pause(LOCK_PAUSE_S)

    def _look(self) -> SeenCheckpoint:
        text = fetch_text(self._fetch, CHECKPOINT)
        try:
            head, note = open_checkpoint(text, self._log_key)
        except BadNote as error:
            raise AuditFailed(
                f"The checkpoint is not to be trusted: {error}. If the log was"
                f" restored, read /log/, and delete {self._folder} to begin anew."
            ) from None
        file = self._folder / CHECKPOINT
        if file.exists():
            stored = file.read_text(errors="replace")
            try:
                old, _ = open_checkpoint(stored, self._log_key)
            except BadNote as error:
                raise AuditFailed(
                    f"{file} cannot be read: {error}. Nothing was signed."
                ) from None
            if old == head:
                return SeenCheckpoint(head, stored)
            self._require_growth(old, head, text)
        line = self._key.cosign(note.text, int(time.time())).line()
        own = [s for s in note.signatures if s.name == head.origin]
        signed = note.text + "\n" + "".join(s.line() for s in own) + line
        with (self._folder / SIZES).open("a") as sizes:
            sizes.write(f"{head.size}\n")
        write_whole(file, signed)
        return SeenCheckpoint(head, signed)

    def _require_growth(self, old: TreeHead, new: TreeHead, text: str) -> None:
        """Raise AuditFailed if the new tree does not begin with the old one."""
        if new.size >= old.size:
            try:
                nodes = TileTree(new.size, self._tile).node
                proof = consistency_proof(old.size, new.size, nodes)
            except ValueError as error:
                raise AuditFailed(f"The log sent a bad tile: {error}.") from None
            if is_consistent(old.size, old.root, new.size, new.root, proof):
                return
        evidence = self._folder / f"{CHECKPOINT}.inconsistent"
        evidence.write_text(text)
        raise AuditFailed(
            f"The log does not begin with the {old.size} leaves that it had before: it"
            " was forked. This witness signs it no more. The log has signed both"
            f" {self._folder / CHECKPOINT} and {evidence.name}, which prove it."
        )

    def _tile(self, at: TileAddress) -> bytes:
        """Return a tile. Raises ValueError if it is shorter or longer than it is."""
        tile = self._fetch(tile_path(at.level, at.index, at.width))
        if len(tile) != at.width * HASH_BYTES:
            raise ValueError(f"tile {at.index} of level {at.level} has another length")
        return tile
