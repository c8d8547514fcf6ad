"""Make receipts: proofs that the log has a leaf, for the author of a bot to keep."""

from collections.abc import Mapping
from typing import Any

from ladder.public_log import tree
from ladder.public_log.models import Cosignature, LogHead, LogLeaf
from torres.common.errors import LadderError
from torres.tlog.leaves import LeafKind, parse_leaf
from torres.tlog.merkle import inclusion_proof, leaf_hash
from torres.tlog.receipts import Receipt


class NoReceipt(LadderError):
    """The log has no such leaf, or not yet."""

    code, http_status = "no-receipt", 404


def of_submission(submission: int) -> str:
    """Return the receipt of an upload. Raises NoReceipt."""
    return _receipt(_leaf(LeafKind.SUBMISSION_ACCEPTED, submission, "upload"), {})


def of_game(game: int) -> str:
    """Return the receipt of a finished game, with the plan of its match.

    If the match shares a deal, it contains the plan of the match whose deal that is. If
    the match got other decks, it contains the leaf that asked for them. It contains the
    secret of the decks if that is public. Raises NoReceipt.
    """
    leaf = _leaf(LeafKind.GAME_FINISHED, game, "game")
    extra: dict[str, str] = {}
    data = parse_leaf(_opened(leaf)).data
    plan = _newest(LeafKind.MATCH_PLANNED, data["match"])
    if plan is not None:
        extra |= _texts("plan", plan)
        first = parse_leaf(_opened(plan)).data.get("deal_of", data["match"])
        deal_plan = _newest(LeafKind.MATCH_PLANNED, first)
        if deal_plan is not None and first != data["match"]:
            extra |= _texts("deal_plan", deal_plan)
        renewal = _newest(LeafKind.DECKS_RENEWED, data["match"])
        if renewal is not None and _is_source(renewal, data):
            extra |= _texts("renewal", renewal)
    batch = data.get("deal", {}).get("batch")
    revealed = _newest(LeafKind.BATCH_REVEALED, batch) if batch else None
    if revealed is not None:
        extra["secret"] = parse_leaf(tree.text(revealed.number)).data["secret"]
    return _receipt(leaf, extra)


def _leaf(kind: LeafKind, subject: int, what: str) -> LogLeaf:
    leaf = _newest(kind, subject)
    if leaf is None:
        raise NoReceipt(
            f"The public log has no leaf of {what} {subject}. If it is new, ask again"
            " in a minute."
        )
    return leaf


def _newest(kind: LeafKind, subject: int) -> LogLeaf | None:
    return (
        LogLeaf.objects.filter(subject=subject, kind=kind).order_by("-number").first()
    )


def _is_source(leaf: LogLeaf, end: Mapping[str, Any]) -> bool:
    """True if the decks of a game that ended so follow from this leaf."""
    hash_ = leaf_hash(tree.text(leaf.number)).hex()
    return bool(hash_ == end.get("deal", {}).get("plan"))


def _opened(leaf: LogLeaf) -> str:
    """Return the text of a leaf; of a sealed one the text that was made public."""
    opening = _newest(LeafKind.UNSEALED, leaf.number)
    if opening is None:
        return tree.text(leaf.number).decode()
    return str(parse_leaf(tree.text(opening.number)).data["text"])


def _receipt(leaf: LogLeaf, extra: Mapping[str, str]) -> str:
    head = tree.head()
    assert head is not None, "a log with leaves has a head"
    size, checkpoint = _signed_after(leaf.number, head)
    proof = inclusion_proof(leaf.number, size, tree.nodes(size).node)
    texts = {**_texts("leaf", leaf), **extra}
    return Receipt(leaf.number, proof, checkpoint, texts).dump()


def _texts(name: str, leaf: LogLeaf) -> dict[str, str]:
    """Return the text of a leaf and, if it was sealed, of the leaf that opens it."""
    texts = {name: tree.text(leaf.number).decode()}
    opening = _newest(LeafKind.UNSEALED, leaf.number)
    if opening is not None:
        texts[f"{name}_opening"] = tree.text(opening.number).decode()
    return texts


def _signed_after(leaf: int, head: LogHead) -> tuple[int, str]:
    """Return the size and the text of a checkpoint of a tree with this leaf.

    It is the newest one that a witness has cosigned, if there is one.
    """
    cosigned = Cosignature.objects.filter(size__gt=leaf, origin=head.origin)
    newest = cosigned.order_by("-size").first()
    if newest is None:
        return head.size, head.checkpoint
    lines = cosigned.filter(size=newest.size).values_list("line", flat=True)
    return newest.size, newest.checkpoint + "".join(lines)
