"""The secret key of the public log, which only the dispatcher reads.

It signs checkpoints, and the secrets of all batches of decks follow from it. Its
owner can foresee decks, so no worker gets it.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from django.conf import settings

from ladder.common.private_files import make_data_folder
from ladder.public_log.models import DeckBatch, LogHead
from torres.common.errors import LadderError
from torres.common.write_once import write_once
from torres.tlog import decks
from torres.tlog.merkle import EMPTY_ROOT
from torres.tlog.notes import BadKey, SigningKey, VerifierKey

_DECKS_LABEL = b"torres-decks-key/1"


class LogKeyRefused(LadderError, code="log-key", http_status=503):
    """This process has no key of the log, or another one. The message says what to do.

    The process can do nothing about the log until an operator provides the key.
    """


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
    """Return the key of the log. The first call of all begins the log.

    A key is made only if the database has no log yet. A log whose checkpoints have two
    keys, or whose secrets do not match its commitments, cannot be verified.
    Raises LogKeyRefused if this process does not have the key of the log.
    """
    key = find_key() or _make_key()
    origin, verifier = key.signing.name, str(key.signing.verifier)
    begun = {"origin": origin, "root": EMPTY_ROOT, "key": verifier}
    # Before the first secret follows from the key.
    head, _ = LogHead.objects.get_or_create(pk=1, defaults=begun)
    _check(key, head)  # another process may have been faster
    return key


def find_key() -> LogKey | None:
    """Return the key of the log, or None if there is neither a log nor a key yet.

    Raises LogKeyRefused.
    """
    path = key_path()
    # The key of a head is empty if it was lost.
    head = LogHead.objects.exclude(key="").first()
    try:
        if head is None and not path.exists():
            return None
        key = LogKey(SigningKey.parse(path.read_text()))
    except FileNotFoundError as error:
        raise LogKeyRefused(_text(f"There is no file {path}.", head)) from error
    except (OSError, BadKey, ValueError) as error:
        text = f"The file {path} cannot be used: {error}"
        raise LogKeyRefused(_text(text, head)) from error
    if head is not None:
        _check(key, head)
    return key


def refuse_another(key: LogKey, head: LogHead) -> None:
    """Raise LogKeyRefused if the log has another key."""
    if head.key and VerifierKey.parse(head.key).public != key.signing.verifier.public:
        text = f"The file {key_path()} has another key ({key.signing.verifier})."
        raise LogKeyRefused(_text(text, head))


def _check(key: LogKey, head: LogHead) -> None:
    """Raise LogKeyRefused if the log has another key, or has committed to another."""
    refuse_another(key, head)
    for batch in DeckBatch.objects.filter(revealed_at=None):
        if decks.commitment(key.batch_secret(batch.number)) != batch.commitment:
            text = f"The key in {key_path()} does not give the secret of {batch}."
            raise LogKeyRefused(_text(text, head))


def _make_key() -> LogKey:
    path = key_path()
    try:
        if not settings.TORRES_LOG_KEY:
            make_data_folder(path.parent)
        return LogKey(SigningKey.parse(write_once(path, new_key)))
    except (OSError, BadKey) as error:
        text = f"No key can be made in {path}: {error}"
        raise LogKeyRefused(_text(text, None)) from error


def new_key() -> str:
    """Return the text of a new key. Raises BadKey if the name of the log is wrong."""
    return SigningKey.generate(default_origin()).dump()


def _text(problem: str, head: LogHead | None) -> str:
    """Return what is wrong with the key, and what to do."""
    if head is None:
        return (
            f"{problem} Set TORRES_LOG_KEY to a file with the output of manage.py"
            " log_key --make, or to a new name in a folder that the dispatcher may"
            " write."
        )
    return (
        f"{problem} This process cannot sign the public log, whose key is {head.key}."
        " Copy log.key from the host that kept the log so far, or from your backup, and"
        " set TORRES_LOG_KEY to this file. If the key is lost for ever, run manage.py"
        " log_key --lost."
    )


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
