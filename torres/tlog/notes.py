"""Signed notes (C2SP signed-note), and the cosignatures of witnesses on them.

A note is a text with signature lines below it. A key has a name, and an id that depends
on the name, the type of the signature and the public key.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

ED25519 = 0x01
COSIGNATURE = 0x04
MAX_NOTE_BYTES = 64 << 10
MAX_SIGNATURES = 64
_DASH = "\N{EM DASH} "
_PRIVATE = "PRIVATE+KEY+"
_ID_BYTES = 4
_KEY_BYTES = 32
_TIME_BYTES = 8


class BadNote(ValueError):
    """A text is not a note, or no trusted key has signed it; the text says why."""


class BadKey(ValueError):
    """A text is not a key of a note; the text says why."""


class NoteSignature(NamedTuple):
    """A signature line, decoded. `data` is the signature without the id of the key."""

    name: str
    key_id: bytes
    data: bytes

    def line(self) -> str:
        """Return the signature as a line of a note."""
        return f"{_DASH}{self.name} {b64encode(self.key_id + self.data).decode()}\n"


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A note as it was read. No signature is checked yet."""

    text: str
    signatures: Sequence[NoteSignature]

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(s.line() for s in self.signatures)}"


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """The public key of a log (ED25519) or of a witness (COSIGNATURE)."""

    name: str
    public: bytes
    kind: int = ED25519

    @property
    def key_id(self) -> bytes:
        data = self.name.encode() + b"\n" + bytes([self.kind]) + self.public
        return sha256(data).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        """Return the key as people exchange it: a "vkey"."""
        data = b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{data}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Return the key that a vkey contains. Raises BadKey."""
        name, key_id, kind, public = _parse_key(text.strip())
        key = cls(name, public, kind)
        if key.key_id.hex() != key_id:
            raise BadKey("The id of the key does not fit the key. Copy it again.")
        return key

    def signed(self, note: SignedNote) -> NoteSignature | None:
        """Return this key's signature on a note; None if there is none.

        Raises BadNote if there is one that is wrong.
        """
        found = None
        for signature in note.signatures:
            if (signature.name, signature.key_id) != (self.name, self.key_id):
                continue
            self._check(note, signature)
            found = signature
        return found

    def _check(self, note: SignedNote, signature: NoteSignature) -> None:
        data = signature.data
        message = note.text.encode()
        if self.kind == COSIGNATURE:
            message = _cosigned(note.text, int.from_bytes(data[:_TIME_BYTES]))
            data = data[_TIME_BYTES:]
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(data, message)
        except InvalidSignature:
            raise BadNote(f"the signature of {self.name} is wrong") from None


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The secret key of a log or a witness."""

    name: str
    seed: bytes
    kind: int = ED25519

    @classmethod
    def generate(cls, name: str, kind: int = ED25519) -> "SigningKey":
        """Return a new random key. Raises BadKey if the name is impossible."""
        check_name(name)
        return cls(name, Ed25519PrivateKey.generate().private_bytes_raw(), kind)

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        """Return the key that `dump` wrote. Raises BadKey."""
        text = text.strip()
        if not text.startswith(_PRIVATE):
            raise BadKey(f"A secret key begins with {_PRIVATE}.")
        name, key_id, kind, seed = _parse_key(text.removeprefix(_PRIVATE))
        key = cls(name, seed, kind)
        if key.verifier.key_id.hex() != key_id:
            raise BadKey("The id of the key does not fit the key. Copy it again.")
        return key

    def dump(self) -> str:
        """Return the key as text; everybody who can read it can sign."""
        data = b64encode(bytes([self.kind]) + self.seed).decode()
        return f"{_PRIVATE}{self.name}+{self.verifier.key_id.hex()}+{data}"

    @property
    def verifier(self) -> VerifierKey:
        return VerifierKey(
            self.name, _private(self.seed).public_key().public_bytes_raw(), self.kind
        )

    def sign(self, text: str) -> NoteSignature:
        """Return the signature of a log on a text, which ends with a newline."""
        return self._signature(text.encode(), b"")

    def cosign(self, text: str, moment: int) -> NoteSignature:
        """Return the cosignature of a witness, made at `moment` (s since 1970)."""
        return self._signature(_cosigned(text, moment), moment.to_bytes(_TIME_BYTES))

    def _signature(self, message: bytes, prefix: bytes) -> NoteSignature:
        signature = _private(self.seed).sign(message)
        return NoteSignature(self.name, self.verifier.key_id, prefix + signature)


@lru_cache(maxsize=4)
def _private(seed: bytes) -> Ed25519PrivateKey:
    # Cached, because it computes the public key, which takes longer than to sign.
    return Ed25519PrivateKey.from_private_bytes(seed)


def parse_note(text: str) -> SignedNote:
    """Return a note with its signatures. Raises BadNote if the text is not a note."""
    if len(text) > MAX_NOTE_BYTES:
        raise BadNote(f"the note is longer than {MAX_NOTE_BYTES} bytes")
    body, blank, below = text.rpartition("\n\n")
    if not blank or not below.endswith("\n"):
        raise BadNote("the note has no signature")
    if any(character < " " and character != "\n" for character in text):
        raise BadNote("the note contains control characters")
    lines = below.removesuffix("\n").split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise BadNote(f"the note has more than {MAX_SIGNATURES} signatures")
    return SignedNote(f"{body}\n", [parse_signature(line) for line in lines])


def parse_signature(line: str) -> NoteSignature:
    """Return the signature of one line without its newline. Raises BadNote."""
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    data = decoded(encoded)
    if not line.startswith(_DASH) or not name or data is None or len(data) <= _ID_BYTES:
        raise BadNote("the note has a line that is not a signature")
    return NoteSignature(name, data[:_ID_BYTES], data[_ID_BYTES:])


def cosigned_at(signature: NoteSignature) -> int:
    """Return when a witness made a cosignature, in seconds since 1970."""
    return int.from_bytes(signature.data[:_TIME_BYTES])


def check_name(name: str) -> None:
    """Raise BadKey if a key cannot have this name."""
    if not name or "+" in name or any(letter.isspace() for letter in name):
        raise BadKey("The name of a key has no spaces and no plus signs.")


def _cosigned(text: str, moment: int) -> bytes:
    return f"cosignature/v1\ntime {moment}\n{text}".encode()


def _parse_key(text: str) -> tuple[str, str, int, bytes]:
    """Return name, id, type and the 32 bytes of a key. Raises BadKey."""
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    data = decoded(encoded)
    check_name(name)
    if data is None or len(data) != 1 + _KEY_BYTES:
        raise BadKey("A key looks like name+1a2b3c4d+AbCd…, in one line.")
    if data[0] not in (ED25519, COSIGNATURE):
        raise BadKey("Only keys for Ed25519 are supported.")
    return name, key_id, data[0], data[1:]


def decoded(text: str) -> bytes | None:
    """Return the bytes of a Base64 text; None if it is not one."""
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
