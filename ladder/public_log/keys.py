"""The secret key of the public log, which only the dispatcher reads.

It signs checkpoints, and the secrets of all batches of decks follow from it. Its
owner can foresee decks, so no worker gets it.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ladder.common.private_files import make_data_folder
from torres.common.write_once import write_once
from torres.tlog import decks
from torres.tlog.notes import BadKey, SigningKey

_DECKS_LABEL = b"torres-decks-key/1"


@dataclass(frozen=True, slots=True)
class LogKey:
    """The key of the log. Its name is that of the log's first origin."""

    signing: SigningKey

    def signer(self, origin: str) -> SigningKey:
        """Return the key that signs checkpoints of this origin."""
        return SigningKey(origin, self.signing.seed)

    def batch_secret(self, batch: int) -> bytes:
        key = hmac.new(self.signing.seed, _DECKS_LABEL, sha256).digest()
        return decks.batch_secret(key, batch)


def load_key() -> LogKey:
    """Return the key of the log. The first process that asks creates the file.

    Raises ImproperlyConfigured if the file cannot be used.
    """
    path = key_path()
    try:
        if not settings.TORRES_LOG_KEY:
            make_data_folder(path.parent)
        text = write_once(path, lambda: SigningKey.generate(default_origin()).dump())
        return LogKey(SigningKey.parse(text))
    except (OSError, BadKey) as error:
        raise ImproperlyConfigured(
            f"The key of the public log in {path} cannot be used: {error} Set"
            " TORRES_LOG_KEY to a file that the dispatcher may read, or to a new name"
            " in a folder that it may write."
        ) from error


def key_path() -> Path:
    """Return the path of the file with the key."""
    return Path(settings.TORRES_LOG_KEY or settings.DATA_DIR / "log.key")


def default_origin() -> str:
    """Return the name that a new log gets, for example "ladder.example.org/log".

    A name never changes, because it is part of each signature.
    """
    if settings.TORRES_LOG_ORIGIN:
        return str(settings.TORRES_LOG_ORIGIN)
    hosts = [host for host in settings.ALLOWED_HOSTS if host.strip("*.") == host]
    return f"{hosts[0] if hosts else 'localhost'}/log"
