"""Cosignatures of witnesses enter the decks, so that no operator can try them out."""

from collections import Counter
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from ladder.games import dealing, facts
from ladder.games.models import Game, Match
from ladder.public_log import batches, cosignatures
from ladder.public_log.models import Cosignature, DeckBatch
from tests.public_log.audited import AuditedLadder, audit_at_once
from tests.public_log.factories import of_kind
from torres.auditing.auditor import Trust
from torres.auditing.findings import Check
from torres.auditing.witness import Witness, witness_key
from torres.cli.audit import _seen as seen_by
from torres.cli.client import LadderClient, Login
from torres.tlog import decks
from torres.tlog.checkpoints import TreeHead
from torres.tlog.leaves import LeafKind
from torres.tlog.notes import COSIGNATURE, SigningKey

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
NAMES = ("ana.example", "ben.example")
FOR_EVER = timedelta(days=1)
NOT = timedelta()


class WitnessedLadder(AuditedLadder):
    """A service whose two witnesses look when they are told to."""

    def __init__(self, url: str, folder: Path, settings: Settings) -> None:
        places = [folder.with_name(name) for name in NAMES]
        keys = [witness_key(place, place.name) for place in places]
        settings.TORRES_WITNESSES = [str(key.verifier) for key in keys]
        super().__init__(url, folder)
        self.places = places
        self.witnesses = keys

    def cosign(self) -> None:
        """Let each witness look, and send its cosignature."""
        with LadderClient(Login(self.url, "")) as client:
            for place, key in zip(self.places, self.witnesses, strict=True):
                seen = Witness(place, key, client.log_file).look()
                cosignatures.accept(seen.text)

    def plan_and_cosign(self) -> Match:
        match = self.plan()
        self.advance()
        self.cosign()
        self.advance()
        return match


@pytest.fixture
def ladder(
    live_server: LiveServer,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> WitnessedLadder:
    audit_at_once(monkeypatch)
    monkeypatch.setattr(dealing, "WAIT_FOR_WITNESSES", FOR_EVER)
    return WitnessedLadder(live_server.url, tmp_path / "audit", settings)


def test_decks_wait_for_the_cosignatures_and_follow_from_them(
    ladder: WitnessedLadder,
) -> None:
    match = ladder.plan()
    ladder.advance()
    ladder.advance()
    match.refresh_from_db()
    assert match.seed == ""
    assert not of_kind(LeafKind.DECKS_FIXED)
    ladder.cosign()
    lines = {row.witness: row.line for row in Cosignature.objects.all()}
    ladder.play(match)
    (fixed,) = of_kind(LeafKind.DECKS_FIXED)
    assert fixed["cosignatures"] == [lines[name].strip() for name in NAMES]
    DeckBatch.objects.update(matches=batches.MATCHES)
    for _ in range(3):
        ladder.advance()
    assert of_kind(LeafKind.BATCH_REVEALED)
    report = ladder.audit()
    assert report.findings == []
    assert (report.dealt, report.witnessed) == (1, 1)


def test_a_match_without_cosignatures_is_played_and_its_leaf_says_so(
    ladder: WitnessedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealing, "WAIT_FOR_WITNESSES", NOT)
    assert ladder.play().status == "finished"
    (fixed,) = of_kind(LeafKind.DECKS_FIXED)
    assert fixed["cosignatures"] == [None, None]
    report = ladder.audit()
    assert report.findings == []
    assert (report.dealt, report.witnessed) == (1, 0)


def test_a_match_waits_for_a_second_at_most() -> None:
    assert timedelta(seconds=1) >= dealing.WAIT_FOR_WITNESSES


def test_other_witnesses_get_a_batch_of_their_own(
    ladder: WitnessedLadder, settings: Settings
) -> None:
    settings.TORRES_WITNESSES = []
    ladder.play()
    first, second = of_kind(LeafKind.BATCH_COMMITTED)
    assert first["witnesses"] == [str(key.verifier) for key in ladder.witnesses]
    assert second["witnesses"] == []
    assert ladder.found() == set()


def test_a_wrong_key_of_a_witness_stops_nothing(
    ladder: WitnessedLadder, settings: Settings
) -> None:
    good = settings.TORRES_WITNESSES
    settings.TORRES_WITNESSES = ["no key", *good, good[0]]
    assert [str(key) for key in cosignatures.witnesses()] == good


def test_a_cosignature_on_another_tree_is_found(
    ladder: WitnessedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator takes the cosignature that gives the decks that it likes."""
    ladder.cosign()
    old = {row.witness: row.line for row in Cosignature.objects.all()}
    monkeypatch.setattr(cosignatures, "of_tree", lambda _head: old)
    ladder.plan()
    ladder.advance()
    assert of_kind(LeafKind.DECKS_FIXED)
    assert ladder.found() == {Check.DECKS}


def test_a_cosigned_tree_whose_decks_were_not_liked_is_found(
    ladder: WitnessedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator gets cosignatures, looks at the decks, and tries another tree."""
    ladder.plan()
    ladder.advance()
    ladder.cosign()
    with monkeypatch.context() as patch:
        patch.setattr(dealing, "deal", lambda *_: [])
        with transaction.atomic():
            facts.record_cancelled(Game.objects.filter(status="scheduled"))
        ladder.advance()
    ladder.cosign()
    ladder.advance()
    assert of_kind(LeafKind.DECKS_FIXED)
    assert ladder.found() == set()  # nobody has told us what the witnesses saw
    place, key = ladder.places[0], str(ladder.witnesses[0].verifier)
    report = ladder.audit(Trust(None, key, *seen_by([place])))
    assert {finding.check for finding in report.findings} == {Check.DECKS}


def test_a_witness_cosigns_a_tree_only_once(ladder: WitnessedLadder) -> None:
    """With several cosignatures on one tree the operator could choose."""
    ladder.cosign()
    before = [(place / "checkpoint").read_text() for place in ladder.places]
    ladder.cosign()
    assert [(place / "checkpoint").read_text() for place in ladder.places] == before
    assert len((ladder.places[0] / "sizes").read_text().split()) == 1


def test_the_page_of_a_ladder_names_the_sources_of_its_decks(
    ladder: WitnessedLadder, client: Client, settings: Settings
) -> None:
    page = client.get(f"/ladders/{ladder.season.ladder.slug}/").content.decode()
    assert "cosignatures of ana.example, ben.example" in page
    settings.TORRES_WITNESSES = []
    ladder.advance()
    page = client.get(f"/ladders/{ladder.season.ladder.slug}/?page=1").content.decode()
    assert "no witness takes part" in page


BATCHES = 1000
DEALS = 10_000
CLASSES = 16
LIMIT = 37.7
"""Chi-square with 15 degrees of freedom is above it by chance in 0.1 % of all cases."""


def favourites(witnesses: int, deals: int, rng: Random) -> Counter[str]:
    """Let an operator choose the best of 1,000 batches and trees for each deal.

    The first digit of a seed stands for the bot that its decks favour. The operator
    likes "0". It knows everything but the cosignatures, which it gets for the tree that
    it has chosen.
    """
    keys = [
        SigningKey(name, rng.randbytes(32), COSIGNATURE) for name in NAMES[:witnesses]
    ]
    secrets = [rng.randbytes(32) for _ in range(BATCHES)]
    dealt: Counter[str] = Counter()
    for size in range(1, deals + 1):
        plan = rng.randbytes(32)
        guess = decks.entropy([b""] * witnesses)
        for secret in secrets:  # with other leaves, order and times, so another root
            root = sha256(plan + secret).digest()
            inputs = decks.DealInputs(plan, size, root, guess)
            if decks.match_seed(secret, inputs)[0] == "0":
                break
        text = TreeHead("ladder.example/log", size, root).text()
        parts = [key.cosign(text, size).data for key in keys]
        inputs = decks.DealInputs(plan, size, root, decks.entropy(parts))
        dealt[decks.match_seed(secret, inputs)[0]] += 1
    return dealt


def chi_square(dealt: Counter[str]) -> float:
    expected = dealt.total() / CLASSES
    digits = [f"{digit:x}" for digit in range(CLASSES)]
    return sum((dealt[digit] - expected) ** 2 / expected for digit in digits)


def test_an_operator_without_witnesses_gets_the_decks_that_it_likes() -> None:
    dealt = favourites(witnesses=0, deals=500, rng=Random(1))
    assert dealt["0"] == 500


def test_with_two_witnesses_a_choice_among_a_thousand_gains_nothing() -> None:
    dealt = favourites(witnesses=2, deals=DEALS, rng=Random(1))
    assert dealt.total() == DEALS
    assert chi_square(dealt) < LIMIT
