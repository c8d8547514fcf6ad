"""Notes, checkpoints, cosignatures, keys and receipts, whole and damaged."""

import json
import random
import zlib
from base64 import b64encode

import pytest

from tests.tlog.trees import tree_root
from torres.tlog import merkle
from torres.tlog.checkpoints import TreeHead, open_checkpoint, parse_head
from torres.tlog.notes import (
    COSIGNATURE,
    BadKey,
    BadNote,
    SignedNote,
    SigningKey,
    VerifierKey,
    cosigned_at,
    parse_note,
)
from torres.tlog.receipts import BadReceipt, Receipt, parse_receipt

ORIGIN = "ladder.example.org/log"
KEY = SigningKey(ORIGIN, bytes(range(32)))
WITNESS = SigningKey("witness.example.org", bytes(range(32, 64)), COSIGNATURE)
LEAVES = [f"leaf {number}" for number in range(21)]
HASHES = [merkle.leaf_hash(leaf.encode()) for leaf in LEAVES]
HEAD = TreeHead(ORIGIN, len(LEAVES), tree_root(HASHES))
CHECKPOINT = str(SignedNote(HEAD.text(), [KEY.sign(HEAD.text())]))

PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n"  # a vkey
PETER_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvq"
    "fqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The example of Go's package golang.org/x/mod/sumdb/note."""


def test_a_note_that_go_signed_is_accepted() -> None:
    key = VerifierKey.parse(PETER)
    note = parse_note(PETER_NOTE)
    assert key.signed(note)
    assert str(note) == PETER_NOTE
    assert str(key) == PETER.strip()
    with pytest.raises(BadNote, match="wrong"):
        key.signed(parse_note(PETER_NOTE.replace("answer", "question")))


def test_a_witness_of_the_specification_is_accepted() -> None:
    """The key of C2SP's example is not published, so only its time is checked."""
    line = (
        "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXE"
        "hZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
    )
    note = parse_note(f"{HEAD.text()}\n{line}")
    assert cosigned_at(note.signatures[0]) == 1679315147
    assert note.signatures[0].line() == line


def test_checkpoints() -> None:
    head, note = open_checkpoint(CHECKPOINT, KEY.verifier)
    assert head == HEAD
    assert str(note) == CHECKPOINT
    cosigned = note.text + "\n" + note.signatures[0].line()
    cosigned += WITNESS.cosign(note.text, 1700000000).line()
    both = parse_note(cosigned)
    signature = WITNESS.verifier.signed(both)
    assert signature is not None
    assert cosigned_at(signature) == 1700000000
    assert KEY.verifier.signed(both)
    with pytest.raises(BadNote, match="has not signed"):
        open_checkpoint(CHECKPOINT, SigningKey(ORIGIN, bytes(32)).verifier)
    other = TreeHead("other/log", 1, bytes(32))
    forged = SignedNote(other.text(), [KEY.sign(other.text())])
    with pytest.raises(BadNote, match="is one of other/log"):
        open_checkpoint(str(forged), KEY.verifier)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no signature\n",
        CHECKPOINT[:-1],
        CHECKPOINT.replace("— ", "- "),
        CHECKPOINT.replace("\n21\n", "\n021\n"),
        CHECKPOINT.replace("\n21\n", "\n-1\n"),
        CHECKPOINT.replace("\n21\n", "\n" + "9" * 5000 + "\n"),
        CHECKPOINT.replace("\n21\n", "\n"),
        CHECKPOINT.replace("\n21\n", "\n\0\n"),
        CHECKPOINT + "x" * 70_000,
        CHECKPOINT + CHECKPOINT.splitlines(keepends=True)[-1] * 100,
    ],
)
def test_a_damaged_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadNote):
        open_checkpoint(text, KEY.verifier)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "name+00000000+AAAA",
        str(KEY.verifier).replace("+", " "),
        str(KEY.verifier).replace("ladder", "Ladder"),
        str(KEY.verifier)[:-4],
    ],
)
def test_a_damaged_key_is_refused(text: str) -> None:
    with pytest.raises(BadKey):
        VerifierKey.parse(text)
    with pytest.raises(BadKey):
        SigningKey.parse(text)


def test_keys_survive_as_text() -> None:
    assert SigningKey.parse(KEY.dump()) == KEY
    assert SigningKey.parse(WITNESS.dump()) == WITNESS
    assert VerifierKey.parse(str(WITNESS.verifier)) == WITNESS.verifier
    assert (
        KEY.verifier.key_id != SigningKey(ORIGIN, KEY.seed, COSIGNATURE).verifier.key_id
    )
    with pytest.raises(BadKey):
        SigningKey.generate("with space")


def receipt(index: int = 5) -> Receipt:
    def node(level: int, k: int) -> bytes:
        return tree_root(HASHES[k << level : (k + 1) << level])

    proof = merkle.inclusion_proof(index, len(HASHES), node)
    return Receipt(index, proof, CHECKPOINT, {"leaf": LEAVES[index]})


def test_a_receipt_proves_its_leaf() -> None:
    for index in range(len(LEAVES)):
        text = receipt(index).dump()
        assert text.startswith("c2sp.org/tlog-proof@v1\nextra ")
        head, _ = parse_receipt(text).verify(KEY.verifier)
        assert head == HEAD


def test_a_changed_receipt_proves_nothing() -> None:
    good = receipt()
    others = [
        Receipt(6, good.proof, CHECKPOINT, good.extra),
        Receipt(5, good.proof[:-1], CHECKPOINT, good.extra),
        Receipt(5, good.proof, CHECKPOINT, {"leaf": "leaf 6"}),
        Receipt(5, good.proof, CHECKPOINT, {}),
        Receipt(5, good.proof, "", good.extra),
    ]
    for other in others:
        with pytest.raises(BadReceipt):
            parse_receipt(other.dump()).verify(KEY.verifier)


def test_no_text_breaks_the_reader_of_receipts() -> None:
    text = receipt().dump()
    rng = random.Random(1)
    refused = 0
    for _ in range(3000):
        start = rng.randrange(len(text))
        end = start + rng.randrange(1, 40)
        noise = rng.choice(["", "\n", "é", "0" * 50, text[end : end + 20], "\0"])
        try:
            changed = parse_receipt(text[:start] + noise + text[end:])
            head, _ = changed.verify(KEY.verifier)
            assert (head, changed.extra["leaf"]) == (HEAD, LEAVES[changed.index])
        except BadReceipt:
            refused += 1
    assert refused > 2900


def test_a_receipt_cannot_fill_the_memory() -> None:
    bomb = b64encode(zlib.compress(b'{"leaf":"' + b"x" * 50_000_000 + b'"}', 9))
    with pytest.raises(BadReceipt):
        parse_receipt(f"c2sp.org/tlog-proof@v1\nextra {bomb.decode()}\nindex 1\n\n")
    nested = b64encode(zlib.compress(b"[" * 100_000)).decode()
    with pytest.raises(BadReceipt):
        parse_receipt(f"c2sp.org/tlog-proof@v1\nextra {nested}\nindex 1\n\n")
    wrong = b64encode(zlib.compress(json.dumps([1]).encode())).decode()
    with pytest.raises(BadReceipt):
        parse_receipt(f"c2sp.org/tlog-proof@v1\nextra {wrong}\nindex 1\n\n")


def test_extension_lines_are_permitted() -> None:
    text = f"{HEAD.text()}extension\n"
    note = SignedNote(text, [KEY.sign(text)])
    assert parse_head(parse_note(str(note))) == HEAD
