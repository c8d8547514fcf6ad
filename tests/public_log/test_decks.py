"""Nobody chooses the decks of a match: an audit finds each way to do so."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.db import transaction
from pytest_django.live_server_helper import LiveServer

from ladder.games import dealing, facts, services
from ladder.games.models import Game, Match
from ladder.public_log import batches, sequencer, tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import load_key
from ladder.public_log.models import DeckBatch, LogHead
from ladder.ratings import voids
from tests.public_log.audited import AuditedLadder, audit_at_once, waiting
from tests.public_log.factories import of_kind, sequence_all
from torres.auditing.findings import Check
from torres.cli.audit import audit
from torres.tlog import decks
from torres.tlog.leaves import LeafKind
from torres.tlog.merkle import root_at

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]

Patch = pytest.MonkeyPatch
Act = Callable[[AuditedLadder, Patch], None]


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: Patch
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    ladder.play()
    assert ladder.found() == set()
    return ladder


def sign_without_decks() -> None:
    """Sign a tree with a plan, and look at the decks without fixing them."""
    sequencer.sequence(load_key(), HeadFile.of_service(), lambda _head: [])


def close_batch() -> None:
    DeckBatch.objects.update(matches=batches.MATCHES)


def let_die(match: Match) -> Game:
    """Let the service fail to play the game of a match."""
    game = match.games.get()
    with transaction.atomic():
        Game.objects.filter(pk=game.pk).update(status="dead")
        facts.record_dead(game.pk)
    return game


def pick_the_size_of_the_tree(ladder: AuditedLadder, _patch: Patch) -> None:
    """Play with the decks of a later tree than the first one with the plan."""
    match = ladder.plan()
    ladder.advance()
    match.refresh_from_db()
    head = LogHead.objects.get()
    size = head.size
    assert size > (match.deal_size or 0)
    root = root_at(size, tree.nodes(size).node)
    entropy = bytes(match.deal_entropy or b"")
    inputs = decks.DealInputs(bytes(match.plan_hash or b""), size, root, entropy)
    seed = decks.match_seed(load_key().batch_secret(match.batch_id or 0), inputs)
    Match.objects.filter(pk=match.pk).update(seed=seed, deal_size=size, deal_root=root)
    ladder.play(match)


def skip_a_tree_that_was_seen(ladder: AuditedLadder, _patch: Patch) -> None:
    ladder.plan()
    sign_without_decks()
    assert ladder.found() == set()  # the auditor keeps the checkpoint
    with transaction.atomic():
        facts.record_cancelled(Game.objects.filter(status="scheduled"))
    sign_without_decks()
    ladder.advance()


def skip_a_tree_that_gave_decks_to_others(ladder: AuditedLadder, patch: Patch) -> None:
    first = ladder.plan()
    sign_without_decks()
    second = ladder.plan()
    sign_without_decks()
    own = dealing.sql.logged_plans
    only = [plan for plan in own() if plan.match == second.pk]
    patch.setattr(dealing.sql, "logged_plans", lambda: only)
    sequence_all()
    patch.setattr(dealing.sql, "logged_plans", own)
    ladder.advance()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (second.deal_size or 0) < (first.deal_size or 0)


def fix_decks_of_an_older_tree(ladder: AuditedLadder, patch: Patch) -> None:
    """Add leaves after the tree until the decks of another tree are liked."""
    ladder.plan()
    sign_without_decks()
    (plan,) = dealing.sql.logged_plans()
    old = LogHead.objects.get()
    ladder.plan()
    sign_without_decks()
    patch.setattr(dealing.sql, "logged_plans", lambda: [plan])
    sequencer.sequence(
        load_key(), HeadFile.of_service(), lambda _: dealing.deal(load_key(), old)
    )
    patch.undo()


def pick_a_batch(ladder: AuditedLadder, patch: Patch) -> None:
    close_batch()
    ladder.advance()
    assert DeckBatch.objects.count() == 2
    first, _ = batches.open_batches()
    patch.setattr(batches, "usable", lambda _key: [first])
    ladder.plan()
    ladder.advance()


def take_another_batch_than_the_plan_names(ladder: AuditedLadder, _p: Patch) -> None:
    close_batch()
    ladder.plan()
    sign_without_decks()  # names batch 1
    batches.prepare(load_key())
    sign_without_decks()
    ((other, leaf),) = DeckBatch.objects.filter(number=2).values_list("pk", "leaf")
    DeckBatch.objects.filter(pk=other).update(leaf=0)
    sequence_all()
    DeckBatch.objects.filter(pk=other).update(leaf=leaf)


def play_without_fixed_decks(ladder: AuditedLadder, _patch: Patch) -> None:
    match = ladder.plan()
    dealing_ = dealing.deal
    key = load_key()

    def deal_silently(head: LogHead) -> list[object]:
        dealing_(key, head)
        return []

    sequencer.sequence(key, HeadFile.of_service(), deal_silently)  # type: ignore[arg-type]
    ladder.play(match)


def plan_without_a_rule(ladder: AuditedLadder, patch: Patch) -> None:
    """Draw a seed, and say nothing of decks in the plan and the result."""
    patch.setattr("torres.auditing.deals.UPGRADE", -timedelta(hours=1))
    match = ladder.plan()
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    data = json.loads(leaf.leaf_data)
    del data["decks"]
    leaf.leaf_data = json.dumps(data)
    leaf.save()
    Match.objects.filter(pk=match.pk).update(seed="0" * 32)
    ladder.play(match)


def play_a_dead_game_with_known_decks(ladder: AuditedLadder, _patch: Patch) -> None:
    match = ladder.plan()
    ladder.advance()
    game = let_die(match)
    ladder.advance()
    Game.objects.filter(pk=game.pk).update(status="scheduled")
    ladder.play(match)


def renew_decks_that_nobody_likes(ladder: AuditedLadder, _patch: Patch) -> None:
    match = ladder.plan()
    ladder.advance()
    match.refresh_from_db()
    game = match.games.get()
    with transaction.atomic():
        services._renew_decks(game.pk)
    ladder.advance()


def reveal_before_the_game(ladder: AuditedLadder, _patch: Patch) -> None:
    match = ladder.plan()
    ladder.advance()
    batches.reveal(DeckBatch.objects.get(), load_key())
    ladder.play(match)


def use_a_batch_after_its_secret_is_public(
    ladder: AuditedLadder, _patch: Patch
) -> None:
    batches.reveal(DeckBatch.objects.get(), load_key())
    DeckBatch.objects.update(revealed_at=None)
    ladder.plan()
    ladder.advance()


ACTS: dict[Check, list[Act]] = {
    Check.DECKS: [
        pick_the_size_of_the_tree,
        skip_a_tree_that_was_seen,
        skip_a_tree_that_gave_decks_to_others,
        fix_decks_of_an_older_tree,
        pick_a_batch,
        take_another_batch_than_the_plan_names,
        play_without_fixed_decks,
        plan_without_a_rule,
        play_a_dead_game_with_known_decks,
        renew_decks_that_nobody_likes,
    ],
    Check.SECRETS: [reveal_before_the_game, use_a_batch_after_its_secret_is_public],
}
ALL = [(check, act) for check, acts in ACTS.items() for act in acts]


@pytest.mark.parametrize(("check", "act"), ALL, ids=[act.__name__ for _, act in ALL])
def test_a_way_to_choose_decks_is_found(
    ladder: AuditedLadder, monkeypatch: Patch, check: Check, act: Act
) -> None:
    act(ladder, monkeypatch)
    found = [finding for finding in ladder.audit().findings if finding.check == check]
    assert found
    assert set(found) <= set(ladder.audit().findings)  # also next time
    assert all(finding.leaf is not None for finding in found)


def test_a_dead_game_that_is_revived_gets_other_decks(ladder: AuditedLadder) -> None:
    match = ladder.plan()
    ladder.advance()
    match.refresh_from_db()
    before = match.seed
    game = let_die(match)
    ladder.play()
    close_batch()
    for _ in range(3):
        ladder.advance()
    assert len(of_kind(LeafKind.BATCH_REVEALED)) == 1
    assert services.revive(game.pk)
    match.refresh_from_db()
    assert match.seed == ""
    ladder.play(match)
    match.refresh_from_db()
    assert match.seed not in ("", before)
    assert match.batch_id == 2
    assert ladder.found() == set()
    close_batch()
    for _ in range(3):
        ladder.advance()
    assert len(of_kind(LeafKind.BATCH_REVEALED)) == 2
    assert ladder.found() == set()


def test_a_void_after_the_reveal_is_no_way_to_other_decks(
    ladder: AuditedLadder,
) -> None:
    game = Game.objects.get()
    close_batch()
    for _ in range(3):
        ladder.advance()
    assert of_kind(LeafKind.BATCH_REVEALED)
    voids.void(game.pk, "the worker was broken")
    seed = game.match.seed
    assert ladder.play(game.match).match.seed == seed
    assert ladder.found() == set()


def test_a_secret_stays_secret_while_a_plan_waits_for_decks(
    ladder: AuditedLadder,
) -> None:
    match = ladder.plan()
    sign_without_decks()
    close_batch()
    batches.prepare(load_key())
    sign_without_decks()
    assert dealing.reveal_ended(load_key()) == 0
    ladder.play(match)
    assert of_kind(LeafKind.BATCH_REVEALED)
    assert ladder.found() == set()


def test_a_leaf_that_lacks_something_is_a_finding(ladder: AuditedLadder) -> None:
    with transaction.atomic():
        facts.record(leaf=facts.NewLeaf(LeafKind.DECKS_FIXED, None, {"size": "many"}))
    ladder.advance()
    assert ladder.found() == {Check.LOG}


def play_as_before(ladder: AuditedLadder) -> Game:
    """Plan and deal a match as the version before: without a rule, nothing is fixed."""
    match = ladder.plan()
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    data = json.loads(leaf.leaf_data)
    del data["decks"]
    leaf.leaf_data = json.dumps(data)
    leaf.save()
    sign_without_decks()
    head = LogHead.objects.get()
    root = bytes(head.root)
    (plan,) = dealing.sql.logged_plans()
    inputs = decks.DealInputs(plan.hash, head.size, root)
    Match.objects.filter(pk=match.pk).update(
        seed=decks.match_seed(load_key().batch_secret(plan.batch), inputs),
        batch=plan.batch,
        plan_hash=plan.hash,
        deal_size=head.size,
        deal_root=root,
    )
    return ladder.play(match)


@pytest.fixture
def old_ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: Patch
) -> AuditedLadder:
    """Return a service whose log was begun by the version before."""
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    play_as_before(ladder)
    return ladder


def test_a_log_of_the_version_before_is_audited_as_it_was(
    old_ladder: AuditedLadder,
) -> None:
    assert old_ladder.found() == set()
    assert not of_kind(LeafKind.DECKS_FIXED)
    old_ladder.play()
    close_batch()
    for _ in range(3):
        old_ladder.advance()
    assert of_kind(LeafKind.BATCH_REVEALED)
    assert old_ladder.found() == set()


def test_a_match_that_waits_at_the_upgrade_gets_its_decks(
    old_ladder: AuditedLadder,
) -> None:
    match = old_ladder.plan()
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    leaf.leaf_data = leaf.leaf_data.replace('"decks":{"rule":"torres-decks/2"},', "")
    leaf.save()
    sign_without_decks()
    old_ladder.play(match)
    assert len(of_kind(LeafKind.DECKS_FIXED)) == 1
    assert old_ladder.found() == set()


def test_a_secret_that_was_public_is_found_in_an_old_log_too(
    old_ladder: AuditedLadder,
) -> None:
    batches.reveal(DeckBatch.objects.get(), load_key())
    DeckBatch.objects.update(revealed_at=None)
    play_as_before(old_ladder)
    assert old_ladder.found() == {Check.SECRETS}


def test_the_command_names_the_check_and_the_leaf_and_fails(
    ladder: AuditedLadder, monkeypatch: Patch
) -> None:
    pick_the_size_of_the_tree(ladder, monkeypatch)
    run = CliRunner().invoke(audit, [ladder.url, "--folder", str(ladder.folder)])
    assert run.exit_code == 1
    wrong = r"^decks: leaf \d+: the decks of game \d+ do not follow"
    assert re.search(wrong, run.output, re.MULTILINE)
