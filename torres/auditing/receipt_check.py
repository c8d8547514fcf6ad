"""Check a receipt without a network: it, the key of the log, and what it is about."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from torres.auditing.games import problems
from torres.tlog.decks import commitment
from torres.tlog.leaves import BadLeaf, Leaf, LeafKind, parse_leaf, replay_digest, seal
from torres.tlog.merkle import leaf_hash
from torres.tlog.receipts import BadReceipt, Receipt


def opened(receipt: Receipt, name: str) -> Leaf:
    """Return a leaf of a receipt; what was sealed in it has to fit its seal.

    Raises BadReceipt.
    """
    try:
        leaf = parse_leaf(receipt.extra.get(name, ""))
        if leaf.kind != LeafKind.SEALED:
            return leaf
        opening = parse_leaf(receipt.extra.get(f"{name}_opening", ""))
        is_opening = opening.kind == LeafKind.UNSEALED
        text = opening.data["text"] if is_opening else ""
        salt = bytes.fromhex(opening.data["salt"]) if is_opening else b""
        if seal(salt, text) != leaf.data["hash"]:
            raise BadReceipt("the receipt does not contain what its leaf has sealed")
        return parse_leaf(text)
    except BadLeaf as error:
        raise BadReceipt(f"the {name} of the receipt cannot be read: {error}") from None


def _plan(receipt: Receipt) -> Mapping[str, Any]:
    """Return the plan of the match. Raises BadReceipt."""
    leaf = opened(receipt, "plan")
    if leaf.kind != LeafKind.MATCH_PLANNED:
        raise BadReceipt(f"the plan of the receipt is a leaf {leaf.kind}")
    return leaf.data


def check_upload(receipt: Receipt, digest: str) -> Iterator[str]:
    """Yield what does not fit between the receipt of an upload and a bot's files."""
    leaf = opened(receipt, "leaf")
    if leaf.kind != LeafKind.SUBMISSION_ACCEPTED:
        yield f"this is the receipt of a leaf {leaf.kind}, not of an upload"
    elif leaf.data["digest"] != digest:
        yield "the receipt is about other files"


def check_game(receipt: Receipt, replay: Mapping[str, Any]) -> Iterator[str]:
    """Yield what does not fit between the receipt of a game and a valid replay."""
    leaf = opened(receipt, "leaf")
    if leaf.kind != LeafKind.GAME_FINISHED:
        yield f"this is the receipt of a leaf {leaf.kind}, not of a game"
        return
    if replay_digest(replay) != leaf.data["replay"]:
        yield "the receipt is about another replay"
        return
    deal = leaf.data.get("deal")
    secret = None
    if deal is not None:
        if not _has_plans(receipt, deal):
            yield "the receipt has another plan than the decks follow from"
            return
        secret = _secret(receipt)
        if secret is not None and commitment(secret) != deal["commitment"]:
            yield "the secret is not the one that the log has committed to"
            return
    yield from problems(
        leaf.data,
        _plan(receipt),
        replay,
        secret,
    )


def _has_plans(receipt: Receipt, deal: Mapping[str, Any]) -> bool:
    """True if the receipt has the plan of the match, and what its decks follow from.

    That is the plan of the deal that it names, or the leaf that asked for other decks.
    """
    if _hash(receipt, "plan") != deal.get("match_plan", deal["plan"]):
        return False
    plan = _plan(receipt)
    if "renewal" in receipt.extra:
        renewal = opened(receipt, "renewal")
        is_own = renewal.data.get("match") == plan["match"]
        return bool(is_own and _hash(receipt, "renewal") == deal["plan"])
    named = plan.get("deal_of")
    if named in (None, plan["match"]):
        return bool(_hash(receipt, "plan") == deal["plan"])
    is_named = opened(receipt, "deal_plan").data.get("match") == named
    return bool(is_named and _hash(receipt, "deal_plan") == deal["plan"])


def _hash(receipt: Receipt, name: str) -> str:
    """Return the hash of a leaf of a receipt, as hexadecimal digits."""
    return leaf_hash(receipt.extra.get(name, "").encode()).hex()


def decks_are_checked(receipt: Receipt) -> bool:
    """True if the receipt has the secret from which the decks follow."""
    return _secret(receipt) is not None


def describe(receipt: Receipt) -> str:
    """Return one line about the leaf of a receipt."""
    leaf = opened(receipt, "leaf")
    names = ("game", "match", "submission")
    ids = {name: leaf.data[name] for name in names if name in leaf.data}
    return f"{leaf.kind} {leaf.time:%Y-%m-%d %H:%M:%S} UTC {json.dumps(ids)}"


def _secret(receipt: Receipt) -> bytes | None:
    try:
        return bytes.fromhex(receipt.extra["secret"])
    except (KeyError, ValueError):
        return None
