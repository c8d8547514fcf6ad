"""Accept the cosignatures of witnesses on our checkpoints."""

from datetime import UTC, datetime
from functools import lru_cache

import structlog
from django.conf import settings
from django.db.models import Q

from ladder.public_log import tree
from ladder.public_log.models import Cosignature, LogHead
from torres.common.errors import LadderError
from torres.tlog import notes
from torres.tlog.checkpoints import TreeHead, parse_head
from torres.tlog.merkle import root_at

log = structlog.get_logger()


class BadCosignature(LadderError):
    """The text is not a cosignature of a witness that we know."""

    code, http_status = "bad-cosignature", 400


def witnesses() -> list[notes.VerifierKey]:
    """Return the public keys of the witnesses, from TORRES_WITNESSES.

    A wrong key is left out, and so is a second key of one name.
    """
    keys: dict[str, notes.VerifierKey] = {}
    for text in settings.TORRES_WITNESSES:
        if key := _key(text):
            keys.setdefault(key.name, key)
    return list(keys.values())


@lru_cache
def _key(text: str) -> notes.VerifierKey | None:
    """Return the key, or None after one line in the log if it is wrong."""
    try:
        return notes.VerifierKey.parse(text)
    except notes.BadKey as error:
        log.warning("a key in TORRES_WITNESSES is left out", key=text, error=str(error))
        return None


def accept(text: str) -> Cosignature:
    """Store the newest cosignature of a witness. Raises BadCosignature.

    `text` is one of our checkpoints with the line of the witness.
    """
    try:
        note = notes.parse_note(text)
        head = parse_head(note)
        signed = [(key, key.signed(note)) for key in witnesses()]
    except notes.BadNote as error:
        raise BadCosignature(f"The checkpoint cannot be read: {error}.") from None
    key, signature = next(((k, s) for k, s in signed if s), (None, None))
    if key is None or signature is None:
        raise BadCosignature(
            "No witness of this service has cosigned this. Its operator lists the keys"
            " of witnesses in TORRES_WITNESSES."
        )
    _require_ours(head)
    # Only the signature of the log itself: a checkpoint may carry others.
    own = [line for line in note.signatures if line.name == head.origin]
    columns = {
        "origin": head.origin,
        "size": head.size,
        "checkpoint": str(notes.SignedNote(note.text, own)),
        "line": signature.line(),
        "made_at": datetime.fromtimestamp(notes.cosigned_at(signature), UTC),
    }
    row, is_new = Cosignature.objects.get_or_create(witness=key.name, defaults=columns)
    if not is_new:
        # A log that was restored has another origin, and begins with fewer leaves.
        is_older = Q(size__lte=head.size) | ~Q(origin=head.origin)
        Cosignature.objects.filter(is_older, pk=row.pk).update(**columns)
    return row


def _require_ours(head: TreeHead) -> None:
    """Raise BadCosignature if the tree of this log does not have this head."""
    ours = tree.head()
    if ours is None or head.origin != ours.origin or head.size > ours.size:
        raise BadCosignature("This is no checkpoint of this log.")
    if root_at(head.size, tree.nodes(head.size).node) != head.root:
        raise BadCosignature(
            "The log has another root at this size. Keep this checkpoint: if the key of"
            " the log has signed it, it proves that the log was forked."
        )


def of_tree(head: LogHead) -> dict[str, str]:
    """Return the lines of the cosignatures on exactly this tree, by witness."""
    rows = Cosignature.objects.filter(origin=head.origin, size=head.size)
    return dict(rows.values_list("witness", "line"))


def seen() -> list[Cosignature]:
    """List the newest cosignature of each witness, by name."""
    return list(Cosignature.objects.order_by("witness"))


def newest() -> str:
    """Return the newest checkpoint of each witness with its line, one below another."""
    return "\n".join(row.checkpoint + row.line for row in seen())
