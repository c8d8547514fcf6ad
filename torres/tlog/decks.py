"""Committed decks: seeds of games that no person can choose.

1. The service commits to a secret: its SHA-256 is a leaf of the log.
2. A match is planned, and its plan is a leaf after that. No person knows the root of
   this tree before the plan is in it.
3. The seed follows from the secret, the plan and this root.
4. When all matches of a batch have ended, the secret is a leaf, and every reader
   can compute the seeds.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct

_SEED_BYTES = 16
_SIZE = Struct(">Q")
_SECRET_LABEL = b"torres-batch/1\n"
_SEED_LABEL = b"torres-decks/1\n"


@dataclass(frozen=True, slots=True)
class DealInputs:
    """The inputs of the decks of a match, besides the secret of its batch.

    `plan` is the hash of the leaf of the match. `size` and `root` are those of the
    first tree that was signed with this leaf in it.
    """

    plan: bytes
    size: int
    root: bytes


def batch_secret(key: bytes, batch: int) -> bytes:
    """Return the secret of a batch: 32 bytes that only owners of `key` can compute.

    So no secret is stored anywhere, and no worker can read one.
    """
    return _hmac(key, _SECRET_LABEL + str(batch).encode())


def commitment(secret: bytes) -> str:
    """Return what is published before the secret, as hexadecimal digits."""
    return sha256(secret).hexdigest()


def match_seed(secret: bytes, deal: DealInputs) -> str:
    """Return the seed of a match: 128 bits as hexadecimal digits."""
    message = _SEED_LABEL + deal.plan + _SIZE.pack(deal.size) + deal.root
    return _hmac(secret, message)[:_SEED_BYTES].hex()


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")
