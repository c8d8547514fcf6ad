"""Committed decks: seeds of games that no person can choose.

1. The service commits to a secret: its SHA-256 is a leaf of the log. The leaf also
   names the witnesses whose cosignatures enter the seeds.
2. A match is planned, and its plan is a leaf after that. It names the rule and the
   batch. No person knows the root of this tree before the plan is in it, and only the
   witnesses know their cosignatures before they have seen the tree.
3. The seed follows from the secret, the plan, this root and these cosignatures. The
   next leaf commits to it, before the match is played.
4. When all matches of a batch have ended, the secret is a leaf, and every reader
   can compute the seeds.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct

_SEED_BYTES = 16
_SIZE = Struct(">Q")
_SECRET_LABEL = b"torres-batch/1\n"
_SEED_LABEL = b"torres-decks/1\n"
_ENTROPY_LABEL = b"torres-entropy/1\n"

RULE = "torres-decks/2"
"""The rule that a plan names. Plans of older versions name none, and follow rule 1."""


@dataclass(frozen=True, slots=True)
class DealInputs:
    """The inputs of the decks of a match, besides the secret of its batch.

    `plan` is the hash of the leaf of the match. `size` and `root` are those of the
    first tree that was signed with this leaf in it, and `entropy` combines the
    cosignatures on this tree. It is empty by rule 1, which had none.
    """

    plan: bytes
    size: int
    root: bytes
    entropy: bytes = b""


def batch_secret(key: bytes, batch: int) -> bytes:
    """Return the secret of a batch: 32 bytes that only owners of `key` can compute.

    So no secret is stored anywhere, and no worker can read one.
    """
    return _hmac(key, _SECRET_LABEL + str(batch).encode())


def commitment(secret: bytes) -> str:
    """Return what is published before the secret, as hexadecimal digits."""
    return sha256(secret).hexdigest()


def entropy(cosignatures: Sequence[bytes]) -> bytes:
    """Return what the cosignatures on a tree add to its seeds: 32 bytes.

    They are in the order in which the batch names the witnesses, each as in its line of
    the checkpoint: the time and the signature. It is empty if a witness was too late.
    """
    framed = (len(data).to_bytes(2) + data for data in cosignatures)
    return sha256(_ENTROPY_LABEL + b"".join(framed)).digest()


def match_seed(secret: bytes, deal: DealInputs) -> str:
    """Return the seed of a match: 128 bits as hexadecimal digits."""
    label = f"{RULE}\n".encode() if deal.entropy else _SEED_LABEL
    message = label + deal.plan + _SIZE.pack(deal.size) + deal.root + deal.entropy
    return _hmac(secret, message)[:_SEED_BYTES].hex()


def seed_hash(seed: str) -> str:
    """Return what a leaf says of a seed before the match, as hexadecimal digits."""
    return sha256(seed.encode()).hexdigest()


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")
