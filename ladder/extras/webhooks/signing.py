"""Sign deliveries as Standard Webhooks specifies (https://www.standardwebhooks.com).

No secret is stored. It follows from the key of the service and from the salt of the
webhook, so that a copy of the database is not enough to forge a delivery.
"""

import base64
import hashlib
import hmac
import secrets

from django.utils.crypto import salted_hmac

PREFIX = "whsec_"
_PURPOSE = "ladder.extras.webhooks.secret"


def new_salt() -> str:
    return secrets.token_hex(16)


def secret_of(salt: str) -> str:
    """Return the secret as its owner gets it: the prefix, then 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(salt)).decode()


def headers(salt: str, message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a delivery. `timestamp` is in seconds since 1970."""
    signed = f"{message}.{timestamp}.".encode() + body
    digest = hmac.new(_key(salt), signed, hashlib.sha256).digest()
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _key(salt: str) -> bytes:
    return salted_hmac(_PURPOSE, salt, algorithm="sha256").digest()
