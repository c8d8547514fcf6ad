"""Everything that happens is in the log, and decks follow from it."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from engine.rulesets import resolve
from engine.setup import derive
from ladder.common import planner_statistics
from ladder.dispatch.log_keeper import LogKeeper
from ladder.dispatch.retention import apply_slice
from ladder.events import outbox, retention, stream
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.events.outbox import NewEvent, NewLeaf
from ladder.games import attempts, replays, services
from ladder.games.models import Game, Match
from ladder.public_log import batches, sequencer, tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import load_key
from ladder.public_log.models import DeckBatch, LogHead, LogLeaf, LogTile
from tests.games import factories as games
from tests.games.factories import schedule_match
from tests.public_log.factories import (
    advance,
    flat,
    leaves,
    of_kind,
    planned,
    planned_together,
    played,
    sequence_all,
)
from tests.tlog.trees import tree_root
from torres.tlog import decks, leaves as log_leaves, merkle
from torres.tlog.checkpoints import open_checkpoint
from torres.tlog.leaves import LeafKind
from torres.tlog.notes import VerifierKey

pytestmark = [
    pytest.mark.django_db(transaction=True),  # a game is played by several threads
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


def test_a_game_is_in_the_log_from_its_plan_to_its_result() -> None:
    game = played()
    kinds = [leaf["type"] for leaf in leaves()]
    assert kinds[:2] == ["log-started", "batch-committed"]
    assert kinds[2:] == ["match-planned", "decks-fixed", "game-finished"]
    (plan,) = of_kind(LeafKind.MATCH_PLANNED)
    seats = list(game.seats.order_by("number"))
    assert plan["match"] == game.match_id
    assert plan["games"] == [[seat.submission_id for seat in seats]]
    assert plan["submissions"] == {
        str(seat.submission_id): seat.submission.digest for seat in seats
    }
    (end,) = of_kind(LeafKind.GAME_FINISHED)
    replay = json.loads(replays.unpack(bytes(game.replay or b"")))
    assert end["replay"] == log_leaves.replay_digest(replay)
    assert {key: end[key] for key in replay["result"]} == replay["result"]


def test_the_decks_follow_from_the_secret_and_the_signed_plan() -> None:
    game = played()
    (commit,) = of_kind(LeafKind.BATCH_COMMITTED)
    (end,) = of_kind(LeafKind.GAME_FINISHED)
    deal = end["deal"]
    secret = load_key().batch_secret(deal["batch"])
    assert commit["commitment"] == deal["commitment"] == decks.commitment(secret)
    plan = LogLeaf.objects.get(kind=LeafKind.MATCH_PLANNED)
    assert deal["plan"] == tree.hashes([plan.number], deal["size"])[plan.number].hex()
    assert deal["size"] > plan.number
    root = merkle.root_at(deal["size"], tree.nodes(LogHead.objects.get().size).node)
    assert root.hex() == deal["root"]
    no_witness = decks.entropy([])
    assert deal["entropy"] == no_witness.hex()
    the_deal = decks.DealInputs(
        bytes.fromhex(deal["plan"]), deal["size"], root, no_witness
    )
    seed = decks.match_seed(secret, the_deal)
    assert game.match.seed == seed
    (fixed,) = of_kind(LeafKind.DECKS_FIXED)
    assert fixed["decks"] == [[game.match_id, decks.seed_hash(seed)]]
    assert (fixed["batch"], fixed["size"]) == (deal["batch"], deal["size"])
    replay = json.loads(replays.unpack(bytes(game.replay or b"")))
    setup = derive(resolve("yucata", 2), seed)
    assert replay["setup"]["decks"] == [list(deck) for deck in setup.decks]


def test_a_shared_deal_follows_from_the_plan_of_its_first_match() -> None:
    first, second = planned_together()
    advance()
    ends = [played(match) for match in (first, second)]
    plans = of_kind(LeafKind.MATCH_PLANNED)
    assert [plan["deal_of"] for plan in plans] == [first.pk, first.pk]
    one, other = (leaf["deal"] for leaf in of_kind(LeafKind.GAME_FINISHED))
    rows = LogLeaf.objects.filter(kind=LeafKind.MATCH_PLANNED).order_by("number")
    numbers = [row.number for row in rows]
    hashes = tree.hashes(numbers, one["size"])
    assert one["plan"] == other["plan"] == hashes[numbers[0]].hex()
    assert other["match_plan"] == hashes[numbers[1]].hex()
    assert (one["size"], one["root"]) == (other["size"], other["root"])
    assert one["size"] > max(numbers)
    assert ends[0].match.seed == ends[1].match.seed
    assert DeckBatch.objects.get().matches == 2


def test_a_shared_deal_waits_until_all_its_plans_are_logged() -> None:
    _, second = planned_together()
    late = Fact.objects.get(leaf_kind=LeafKind.MATCH_PLANNED, leaf_subject=second.pk)
    late.delete()
    advance()
    assert set(Match.objects.values_list("seed", flat=True)) == {""}
    late.save(force_insert=True)
    advance()
    seeds = set(Match.objects.values_list("seed", flat=True))
    assert len(seeds) == 1
    assert seeds != {""}


def test_no_worker_can_take_a_game_without_decks() -> None:
    match = planned()
    game = match.games.get().pk
    worker = games.worker()
    assert match.seed == ""
    assert attempts.claim(game, worker) is None
    advance()
    assert attempts.claim(game, worker) is not None


def test_matches_that_are_dealt_together_have_different_decks() -> None:
    matches = [planned() for _ in range(5)]
    advance()
    seeds = set(Match.objects.values_list("seed", flat=True))
    assert len(seeds) == len(matches)
    assert DeckBatch.objects.get().matches == len(matches)


def test_a_secret_is_public_after_the_last_game_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "MATCHES", 1)
    first = planned()
    advance()
    advance()  # commits to the secret of the second batch
    assert DeckBatch.objects.count() == 2
    advance()
    assert not of_kind(LeafKind.BATCH_REVEALED)
    played(first)
    advance()
    (revealed,) = of_kind(LeafKind.BATCH_REVEALED)
    (end,) = of_kind(LeafKind.GAME_FINISHED)
    assert end["deal"]["batch"] == revealed["batch"] == 1
    secret = bytes.fromhex(revealed["secret"])
    assert decks.commitment(secret) == end["deal"]["commitment"]
    second = planned()
    advance()
    second.refresh_from_db()
    assert second.batch_id == 2


def test_the_signed_tree_contains_the_leaves(
    client: Callable[..., object], data_dir: Path
) -> None:
    key = LogKeeper()
    for _ in range(3):
        planned()
        advance(key)
    head = LogHead.objects.get()
    signed, _ = open_checkpoint(head.checkpoint, VerifierKey.parse(head.key))
    texts = tree.texts(range(head.size))
    hashes = [merkle.leaf_hash(texts[number]) for number in range(head.size)]
    assert signed.root == bytes(head.root) == tree_root(hashes)
    assert HeadFile.of_service().read() == signed
    assert (data_dir / "log.key").stat().st_mode & 0o777 == 0o600


def fill(count: int) -> None:
    """Log many small leaves."""
    with transaction.atomic():
        outbox.record_all(
            outbox.fact(
                leaf=NewLeaf(LeafKind.SUBMISSION_ACCEPTED, k, {"submission": k})
            )
            for k in range(count)
        )
    sequence_all()


@pytest.mark.parametrize("steps", [[1], [255], [100, 200, 300], [1_000, 69_000]])
def test_tiles_and_bundles_stay_readable_as_the_log_grows(steps: list[int]) -> None:
    total = 0
    for step in steps:
        fill(step)
        total += step
        # Another test may have counted the rows of a table that was almost empty. With
        # such statistics SQLite reads the whole table for each bundle.
        planner_statistics.refresh()
    head = LogHead.objects.get()
    assert head.size == total + 1
    assert sequencer.oldest_needed() is None
    texts = tree.texts(range(head.size))
    assert flat(texts[head.size - 1])["submission"] == steps[-1] - 1
    root = tree_root(merkle.leaf_hash(texts[n]) for n in range(head.size))
    assert bytes(head.root) == root
    assert merkle.root_at(head.size, tree.nodes(head.size).node) == root
    assert LogTile.objects.count() == head.size // 256 + head.size // 65536
    assert LogLeaf.objects.exclude(text="").count() == head.size % 256
    for index in {0, head.size // 2, head.size - 1}:
        proof = merkle.inclusion_proof(index, head.size, tree.nodes(head.size).node)
        leaf = merkle.leaf_hash(texts[index])
        assert merkle.includes(root, head.size, index, leaf, proof)


def test_the_statements_do_not_grow_with_the_leaves() -> None:
    advance()
    counts = set()
    for matches in (1, 9):
        for _ in range(matches):
            planned()
            planned(embargo=True)
        with CaptureQueriesContext(connection) as captured:
            # The plans, a leaf for the open decks, and one for each sealed match.
            assert sequence_all() == 3 * matches + 1
            assert not Match.objects.filter(seed="").exists()
        counts.add(len(captured))

    assert len(counts) == 1


def test_a_fact_stays_until_its_leaf_is_in_the_tree() -> None:
    with transaction.atomic():
        outbox.record(leaf=NewLeaf(LeafKind.SUBMISSION_ACCEPTED, 1, {}))
        outbox.record(NewEvent(EventKind.BOT_STATUS, {}))
    old = timedelta(days=settings.TORRES_KEEP_EVENTS_DAYS + 1)
    Fact.objects.update(created_at=Now() - old)
    rule = retention.rules(sequencer.oldest_needed)[0]
    assert stream.newest() == 2
    assert apply_slice(rule) == 0
    sequence_all()
    assert apply_slice(rule) == 1
    assert stream.newest() == 2


def test_events_without_a_leaf_leave_the_log_as_it_is() -> None:
    keeper = LogKeeper()
    advance(keeper)
    size = LogHead.objects.get().size
    with transaction.atomic():
        outbox.record(NewEvent(EventKind.BOT_STATUS, {}))
    advance(keeper)
    assert LogHead.objects.get().size == size
    assert sequencer.oldest_needed() is None


def test_an_older_tree_can_still_be_read() -> None:
    fill(300)
    old = LogHead.objects.get()
    fill(300)
    new = LogHead.objects.get()
    proof = merkle.consistency_proof(old.size, new.size, tree.nodes(new.size).node)
    assert merkle.is_consistent(
        old.size, bytes(old.root), new.size, bytes(new.root), proof
    )
    assert merkle.root_at(old.size, tree.nodes(old.size).node) == bytes(old.root)


def test_a_match_under_embargo_is_sealed_until_it_is_shown() -> None:
    match = planned(embargo=True)
    game = played(match)
    assert not of_kind(LeafKind.MATCH_PLANNED)
    assert not of_kind(LeafKind.GAME_FINISHED)
    sealed = {n: leaf for n, leaf in enumerate(leaves()) if leaf["type"] == "sealed"}
    assert len(sealed) == 3
    services.lift_embargo([match.pk])
    advance()
    openings = of_kind(LeafKind.UNSEALED)
    assert {opening["leaf"] for opening in openings} == set(sealed)
    for opening in openings:
        salt = bytes.fromhex(opening["salt"])
        hash_ = log_leaves.seal(salt, opening["text"])
        assert hash_ == sealed[opening["leaf"]]["hash"]
    kinds = {flat(opening["text"])["type"] for opening in openings}
    assert kinds == {"match-planned", "decks-fixed", "game-finished"}
    assert game.match.batch_id == 1


def test_a_leaf_that_waits_under_embargo_is_logged_openly_after_it() -> None:
    match = planned(embargo=True)
    services.lift_embargo([match.pk])
    advance()
    assert of_kind(LeafKind.MATCH_PLANNED)
    assert not of_kind(LeafKind.SEALED)


def test_failures_cancellations_and_voids_are_logged() -> None:
    game = played()
    new = services.void(game.pk, "worker replaced")
    assert new is not None
    advance()
    claim = attempts.claim(new.pk, games.worker())
    assert claim is not None
    assert attempts.fail(claim, "RuntimeError: /secret/path")
    assert services.cancel(new.pk, "the bot is gone")
    advance()
    (void,) = of_kind(LeafKind.GAME_VOIDED)
    assert (void["game"], void["replacement"]) == (game.pk, new.pk)
    (attempt,) = of_kind(LeafKind.ATTEMPT_ENDED)
    assert attempt["outcome"] == "failed"
    (end,) = of_kind(LeafKind.GAME_ENDED)
    assert end["outcome"] == "cancelled"
    texts = json.dumps(leaves())
    for text in ("/secret/path", "the bot is gone", "worker replaced"):
        assert text not in texts


def test_comparisons_are_not_logged() -> None:
    bots = games.bots(2)
    match = schedule_match(
        Match.Kind.COMPARISON, games.TERMS, [games.newest(bot) for bot in bots]
    )
    assert match.seed
    assert played(match).status == "finished"
    assert {leaf["type"] for leaf in leaves()} <= {"log-started", "batch-committed"}


def test_a_restored_database_continues_under_another_name(data_dir: Path) -> None:
    fill(10)
    before = LogHead.objects.get()
    old = LogHead.objects.filter(pk=1).values().get()
    rows = list(LogLeaf.objects.all())
    fill(5)
    # A restored backup lacks the last leaves.
    LogLeaf.objects.all().delete()
    LogLeaf.objects.bulk_create(rows)
    LogHead.objects.filter(pk=1).update(**old)
    fill(1)
    head = LogHead.objects.get()
    assert head.origin == f"{before.origin}/2"
    (restored,) = of_kind(LeafKind.LOG_RESTORED)
    assert restored["from"] == before.origin
    assert (restored["size"], restored["signed"]) == (11, 16)
    assert VerifierKey.parse(head.key).name == head.origin
    fill(1)
    assert LogHead.objects.get().origin == head.origin


def test_after_a_restore_no_secret_is_used_again(data_dir: Path) -> None:
    """The leaves that were lost may have made the secrets of older batches public."""
    played()
    sequencer.mark_restored()
    match = planned()
    advance()
    match.refresh_from_db()
    first, second = of_kind(LeafKind.BATCH_COMMITTED)
    assert (
        match.batch_id == second["batch"] > first["batch"] + LogHead.objects.get().size
    )
    assert of_kind(LeafKind.DECKS_FIXED)[-1]["batch"] == second["batch"]


def test_a_restore_elsewhere_is_said_too(data_dir: Path) -> None:
    fill(3)
    before = LogHead.objects.get()
    (data_dir / "log.head").unlink()
    sequencer.mark_restored()
    fill(1)
    head = LogHead.objects.get()
    assert head.origin == f"{before.origin}/2"
    assert of_kind(LeafKind.LOG_RESTORED) == [
        {
            "from": before.origin,
            "name": head.origin,
            "size": before.size,
            "type": "log-restored",
        }
    ]
    assert not head.restored


def test_leaves_need_a_transaction() -> None:
    with pytest.raises(TransactionManagementError):
        outbox.record(leaf=NewLeaf(LeafKind.LOG_STARTED, None, {}))


def test_a_leaf_of_a_change_that_is_rolled_back_is_not_logged() -> None:
    fill(1)
    size = LogHead.objects.get().size
    with transaction.atomic():
        outbox.record(leaf=NewLeaf(LeafKind.LOG_STARTED, None, {}))
        transaction.set_rollback(True)
    assert advance(LogKeeper()) == 1  # the commitment of the first batch
    assert LogHead.objects.get().size == size + 1


def test_games_are_open_while_they_wait_for_decks() -> None:
    planned()
    assert Game.objects.filter(status="scheduled").count() == 1
    advance()
    assert Match.objects.exclude(seed="").count() == 1


def test_leaves_of_a_second_are_numbered_together() -> None:
    """Each tree writes a kilobyte, whatever is new in it."""
    keeper = LogKeeper()
    keeper.advance(100.0, matches_wait=False)

    with transaction.atomic():
        outbox.record(leaf=NewLeaf(LeafKind.LOG_STARTED, None, {}))
    assert keeper.advance(100.5, matches_wait=False) == 0
    assert keeper.advance(101.0, matches_wait=False) == 1
    planned()
    assert keeper.advance(101.5) > 0  # its decks are needed at once
