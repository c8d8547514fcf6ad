"""`torres audit` finds nothing in an honest service, and each manipulation."""

import json
import os
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from ladder.bots.facts import record_upload
from ladder.bots.models import Bot, Submission
from ladder.events.models import Fact
from ladder.games import dealing, services, visibility
from ladder.games.models import Game, Match, Seat
from ladder.public_log import batches, sequencer, tree
from ladder.public_log.keys import load_key
from ladder.public_log.models import (
    DeckBatch,
    LogBundle,
    LogHead,
    LogLeaf,
    LogTile,
)
from ladder.ratings import ledger_writer, rater, voids
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder, Rating, Season
from tests.games import factories as games
from tests.public_log.audited import AuditedLadder, audit_at_once, waiting
from torres.auditing import auditor
from torres.auditing.auditor import Trust
from torres.auditing.findings import Check
from torres.auditing.mirror import AuditFailed
from torres.auditing.story import REVEAL_AFTER
from torres.auditing.witness import Witness, witness_key
from torres.cli.client import LadderClient, Login
from torres.rating.ledger import EntryKind
from torres.tlog.checkpoints import TreeHead
from torres.tlog.decks import DealInputs, match_seed
from torres.tlog.leaves import LeafKind
from torres.tlog.merkle import Frontier
from torres.tlog.tiles import TILE_WIDTH

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
GAMES = 4
SECOND = timedelta(seconds=1)


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    for _ in range(GAMES):
        ladder.play()
    return ladder


def test_an_honest_service_has_no_findings(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MATCHES", GAMES)
    voids.void(Game.objects.earliest("pk").pk, "the worker was broken")
    ladder.play(Match.objects.earliest("pk"))
    services.cancel(ladder.plan().games.get().pk, "no more")
    ladder.advance()
    report = ladder.audit()
    assert report.findings == []
    assert report.games == GAMES + 1
    assert report.replays == GAMES + 1
    assert report.bots == 5
    ladder.advance()  # the secret is public now
    assert LogLeaf.objects.filter(kind=LeafKind.BATCH_REVEALED).count() == 1
    assert ladder.audit().findings == []


def begin_a_batch(
    ladder: AuditedLadder, at: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the log begin with the next batch of decks at a later time."""
    DeckBatch.objects.update(matches=batches.MATCHES)
    batches.prepare(load_key())
    DeckBatch.objects.filter(leaf=None).update(created_at=at)
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: at)
        ladder.advance()


def test_facts_that_waited_for_a_dispatcher_are_no_findings(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next dispatcher came a day later, and began with a new batch of decks."""
    services.cancel(ladder.plan().games.get().pk, "no more")
    later = timezone.now() + timedelta(days=1)
    begin_a_batch(ladder, later, monkeypatch)

    assert ladder.audit().findings == []


def change_a_result(ladder: AuditedLadder) -> None:
    seats = Seat.objects.filter(game=Game.objects.latest("pk")).order_by("number")
    ranks = [seat.rank for seat in seats]
    for seat, rank in zip(seats, reversed(ranks), strict=True):
        Seat.objects.filter(pk=seat.pk).update(rank=rank)


def drop_a_game(ladder: AuditedLadder) -> None:
    Match.objects.filter(games=Game.objects.latest("pk")).update(embargo=True)


def reorder_ratings(ladder: AuditedLadder) -> None:
    ladder.play(fold=False)
    ladder.play(fold=False)
    while rater.fold(ladder.season.pk):
        pass
    first, second = waiting(LeafKind.RATING_CHANGED)
    Fact.objects.filter(pk=first.pk).update(leaf_data=second.leaf_data)
    Fact.objects.filter(pk=second.pk).update(leaf_data=first.leaf_data)
    ladder.advance()


def replace_files(ladder: AuditedLadder) -> None:
    match = ladder.plan()
    seat = match.games.get().seats.earliest("number")
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    forged = leaf.leaf_data.replace(seat.submission.digest, "f" * 64)
    Fact.objects.filter(pk=leaf.pk).update(leaf_data=forged)
    ladder.advance()
    services.cancel(match.games.get().pk, "")


def choose_decks(ladder: AuditedLadder) -> None:
    """Give a match a seed that somebody likes. The secret is not public yet."""
    match = ladder.plan()
    ladder.advance()
    Match.objects.filter(pk=match.pk).update(seed="0" * 32)
    ladder.play(match)


def swap_a_secret(ladder: AuditedLadder) -> None:
    data = json.dumps({"batch": 1, "secret": "00" * 32})
    Fact.objects.create(
        leaf_kind=LeafKind.BATCH_REVEALED, leaf_subject=1, leaf_data=data
    )
    ladder.advance()


def backdate_a_void(ladder: AuditedLadder) -> None:
    game = Game.objects.filter(match__embargo=False, status="finished").latest("pk")
    voids.void(game.pk, "it was broken, yesterday")
    leaf = waiting(LeafKind.GAME_VOIDED).get()
    leaf.created_at = leaf.created_at.replace(year=2020)
    leaf.save()
    ladder.fold()


def plan_a_match_for_ever(ladder: AuditedLadder) -> None:
    ladder.plan()
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    leaf.leaf_data = re.sub(r'"hours":"[^"]*"', '"hours":"0.0"', leaf.leaf_data)
    leaf.save()
    ladder.advance()


def fork_the_log(ladder: AuditedLadder) -> None:
    ladder.found()
    forge(other_games)


def show_another_log_to_others(ladder: AuditedLadder) -> None:
    """Let a witness look, then show another log to somebody who never looked."""
    folder = ladder.folder.with_name("witness")
    key = witness_key(folder, "ana.example")
    with LadderClient(Login(ladder.url, "")) as client:
        witness = Witness(folder, key, client.log_file)
        ladder.trust = Trust(
            witness_key=str(key.verifier), witnesses=[witness.look().text]
        )
        assert Check.SPLIT_VIEW not in ladder.found()
        ladder.folder = ladder.folder.with_name("somebody else")
        forge(other_games)
        with pytest.raises(AuditFailed, match="forked"):
            witness.look()


def newest_rating() -> Rating:
    return Rating.objects.latest("pk")


def show_a_phantom_on_top(ladder: AuditedLadder) -> None:
    """Give a bot that never joined the best rating."""
    bot = games.bot("latecomer")
    Rating.objects.create(
        season=ladder.season,
        bot=bot,
        submission=games.newest(bot),
        mu=60.0,
        sigma=1.0,
        rating=57.0,
        seq=1,
    )


def hide_a_rated_bot(_: AuditedLadder) -> None:
    newest_rating().delete()


def change_a_rating(_: AuditedLadder) -> None:
    Rating.objects.filter(pk=newest_rating().pk).update(mu=F("mu") + 1)


def change_a_record(_: AuditedLadder) -> None:
    Rating.objects.filter(pk=newest_rating().pk).update(games=F("games") + 50)


def hide_forfeits_on_the_leaderboard(_: AuditedLadder) -> None:
    Rating.objects.filter(pk=newest_rating().pk).update(forfeits=F("forfeits") + 1)


def rename_a_ladder(_: AuditedLadder) -> None:
    Ladder.objects.filter(slug="main").update(slug="other")


def renumber_a_season(ladder: AuditedLadder) -> None:
    Season.objects.filter(pk=ladder.season.pk).update(number=2)


def swap_two_names_on_the_leaderboard(_: AuditedLadder) -> None:
    """Exchange two bots' rows, and nothing else."""
    one, other = Rating.objects.order_by("pk")[:2]
    Rating.objects.filter(pk=one.pk).update(mu=other.mu, sigma=other.sigma)
    Rating.objects.filter(pk=other.pk).update(mu=one.mu, sigma=one.sigma)


def show_a_voided_game_as_valid(ladder: AuditedLadder) -> None:
    game = Game.objects.filter(status="finished").latest("pk")
    voids.void(game.pk, "a friend lost it", replay_again=False)
    ladder.fold()
    Game.objects.filter(pk=game.pk).update(status="finished")


def name_another_bot(_: AuditedLadder) -> None:
    """Let a submission, with all its games, belong to a bot that never played."""
    other = games.bot("stranger")
    seat = Game.objects.latest("pk").seats.earliest("number")
    Submission.objects.filter(pk=seat.submission_id).update(bot=other, number=99)


def change_a_reason(_: AuditedLadder) -> None:
    Game.objects.filter(pk=Game.objects.latest("pk").pk).update(reason="last_standing")


def relabel_a_game(_: AuditedLadder) -> None:
    match = Game.objects.latest("pk").match
    Match.objects.filter(pk=match.pk).update(ladder="")


def shift_the_times(_: AuditedLadder) -> None:
    Game.objects.update(finished_at=F("finished_at") - timedelta(days=400))


def invent_a_forfeit(_: AuditedLadder) -> None:
    seat = Game.objects.latest("pk").seats.earliest("number")
    Seat.objects.filter(pk=seat.pk).update(fault="timeout")


def show_a_game_that_nobody_played(ladder: AuditedLadder) -> None:
    """Beside a sealed leaf, which an audit cannot read yet."""
    match = ladder.plan()
    Fact.objects.filter(leaf_kind=LeafKind.MATCH_PLANNED, number=None).update(
        leaf_seal=match.pk
    )
    ladder.advance()
    copy = Game.objects.filter(status="finished").latest("pk")
    seats = list(copy.seats.all())
    copy.pk = None
    copy.index = 1
    copy.save()
    for seat in seats:
        seat.pk = None
        seat.game = copy
    Seat.objects.bulk_create(seats)


def swap_two_slugs(_: AuditedLadder) -> None:
    """Exchange the names of two bots everywhere, with the proofs of the names."""
    one, other = Bot.objects.order_by("pk")[:2]
    Bot.objects.filter(pk=one.pk).update(slug="between")
    names = {"name": one.name, "name_salt": one.name_salt, "name_key": None}
    Bot.objects.filter(pk=other.pk).update(slug=one.slug, **names)
    Bot.objects.filter(pk=one.pk).update(
        slug=other.slug, name=other.name, name_salt=other.name_salt
    )


def rename_a_bot(_: AuditedLadder) -> None:
    Bot.objects.filter(pk=newest_rating().bot_id).update(name="The best bot")


def append(ladder: AuditedLadder, kind: EntryKind, change: dict[str, object]) -> None:
    """Append an entry to the ledger as changed software would."""
    season = Season.objects.get(pk=ladder.season.pk)
    ledger_writer.append(season, lambda batch: batch.add(kind, change))
    ladder.advance()


def change_a_parameter(ladder: AuditedLadder) -> None:
    season = Season.objects.get(pk=ladder.season.pk)
    parameters = {**season.parameters, "beta": 0.5}
    append(ladder, EntryKind.PARAMETERS, {"parameters": parameters})


def join_with_a_skill(ladder: AuditedLadder) -> None:
    bot = games.bot("latecomer")
    upload = games.newest(bot)
    with transaction.atomic():
        record_upload(upload)
    inputs = {"bot": bot.pk, "submission": upload.pk, "digest": upload.digest}
    append(ladder, EntryKind.JOIN, {**inputs, "skill": [60.0, 1.0]})


def join_with_other_files(ladder: AuditedLadder) -> None:
    bot = games.bot("latecomer")
    upload = games.newest(bot)
    with transaction.atomic():
        record_upload(upload)
    inputs = {"bot": bot.pk, "submission": upload.pk, "digest": "f" * 64}
    append(ladder, EntryKind.JOIN, inputs)


MANIPULATIONS: dict[Check, list[Callable[[AuditedLadder], None]]] = {
    Check.GAMES: [change_a_result, drop_a_game],
    Check.SUBMISSIONS: [replace_files],
    Check.DECKS: [choose_decks],
    Check.SECRETS: [swap_a_secret],
    Check.OVERDUE: [plan_a_match_for_ever],
    Check.TIMES: [backdate_a_void],
    Check.RATINGS: [reorder_ratings],
    Check.SPLIT_VIEW: [show_another_log_to_others],
    Check.FORK: [fork_the_log],
}
TEN = [(check, act) for check, acts in MANIPULATIONS.items() for act in acts]
"""The manipulations that the audit promises to find, and the check that finds each."""


OF_THE_VIEW: dict[Check, list[Callable[[AuditedLadder], None]]] = {
    Check.GAMES: [
        *(show_a_voided_game_as_valid, name_another_bot, change_a_reason),
        *(relabel_a_game, shift_the_times, show_a_game_that_nobody_played),
    ],
    Check.REPLAYS: [invent_a_forfeit],
    Check.LEADERBOARDS: [
        *(show_a_phantom_on_top, hide_a_rated_bot, change_a_rating, change_a_record),
        *(hide_forfeits_on_the_leaderboard, swap_two_names_on_the_leaderboard),
        *(rename_a_ladder, renumber_a_season),
    ],
    Check.NAMES: [swap_two_slugs, rename_a_bot],
    Check.RATINGS: [change_a_parameter, join_with_a_skill, join_with_other_files],
}
ALL = TEN + [(check, act) for check, acts in OF_THE_VIEW.items() for act in acts]


@pytest.mark.parametrize(("check", "act"), ALL, ids=[act.__name__ for _, act in ALL])
def test_a_manipulation_is_found(
    ladder: AuditedLadder, check: Check, act: Callable[[AuditedLadder], None]
) -> None:
    act(ladder)
    assert check in ladder.found()


def test_a_replay_that_is_not_shown_is_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = Game.objects.latest("pk").pk
    shown = visibility.public_replays
    monkeypatch.setattr(
        visibility,
        "public_replays",
        lambda *args, **kw: (row for row in shown(*args, **kw) if row[0] != hidden),
    )
    (finding,) = ladder.audit().findings
    assert finding.text == f"the service does not show the replay of game {hidden}"


def share(ladder: AuditedLadder) -> list[Match]:
    """Let the matchmaker plan two matches that share a deal, and deal it."""
    Ladder.objects.update(shared_deals=True, tables={"2": 1})
    ladder.season = Season.objects.select_related("ladder").get(pk=ladder.season.pk)
    assert MatchmakingSession().pair(ladder.season, 2) == 2
    ladder.advance()
    return list(Match.objects.order_by("-pk")[:2])[::-1]


def test_a_secret_that_stays_secret_is_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts from the next batch on, because the service may have been stopped."""
    started_again = timezone.now() + 3 * REVEAL_AFTER
    monkeypatch.setattr(dealing, "reveal_ended", lambda _key: 0)
    begin_a_batch(ladder, started_again, monkeypatch)

    def found(now: datetime) -> set[Check]:
        clock = SimpleNamespace(now=lambda _zone: now)
        with monkeypatch.context() as patch:
            patch.setattr(auditor, "datetime", clock)
            return ladder.found()

    assert Check.SECRETS not in found(started_again + REVEAL_AFTER - SECOND)
    assert Check.SECRETS in found(started_again + REVEAL_AFTER + SECOND)


def test_matches_that_share_a_deal_follow_from_the_plan_of_the_first(
    ladder: AuditedLadder,
) -> None:
    matches = share(ladder)
    assert len({match.seed for match in matches}) == 1
    for match in matches:
        ladder.play(match)
    DeckBatch.objects.update(matches=batches.MATCHES)
    for _ in range(3):
        ladder.advance()
    assert LogLeaf.objects.filter(kind=LeafKind.BATCH_REVEALED).exists()
    assert ladder.audit().findings == []


def test_a_match_that_names_a_deal_and_plays_another_one_is_found(
    ladder: AuditedLadder,
) -> None:
    _, second = share(ladder)
    head = LogHead.objects.get()
    root, plan = bytes(head.root), bytes(second.own_plan or b"")
    inputs = DealInputs(plan, head.size, root)
    seed = match_seed(load_key().batch_secret(second.batch_id or 0), inputs)
    Match.objects.filter(pk=second.pk).update(
        seed=seed, plan_hash=plan, own_plan=None, deal_root=root, deal_size=head.size
    )
    assert Check.DECKS not in ladder.found()
    game = ladder.play(second)
    (found,) = (f for f in ladder.audit().findings if f.check == Check.DECKS)
    whose = f"the plan of match {second.deal_of_id}, whose deal it shares"
    assert found.text == f"the decks of game {game.pk} do not follow from {whose}"


def test_a_match_that_joins_a_known_deal_is_found(ladder: AuditedLadder) -> None:
    first, _ = share(ladder)
    late = ladder.plan()
    leaf = waiting(LeafKind.MATCH_PLANNED).get()
    text = leaf.leaf_data.replace('{"games"', f'{{"deal_of":{first.pk},"games"')
    Fact.objects.filter(pk=leaf.pk).update(leaf_data=text)
    ladder.advance()
    late.refresh_from_db()
    Match.objects.filter(pk=late.pk).update(
        seed=first.seed,
        own_plan=late.plan_hash,
        plan_hash=first.plan_hash,
        deal_root=first.deal_root,
        deal_size=first.deal_size,
    )
    ladder.play(late)
    assert Check.DECKS in ladder.found()


@pytest.mark.soak
def test_ten_manipulations_are_found_among_two_thousand_games(
    ladder: AuditedLadder,
) -> None:
    """One after the other, so that each has to be found beside the others."""
    total = int(os.environ.get("TESTS_GAMES", "2000"))
    for _ in range(total - GAMES):
        ladder.play()
    began = time.monotonic()
    report = ladder.audit()
    print(f"{report}: {time.monotonic() - began:.1f} s")
    assert report.findings == []
    assert report.games == report.replays == total
    for check, act in TEN:
        before = set(ladder.audit().findings)
        act(ladder)
        after = ladder.audit().findings
        assert check in {finding.check for finding in after if finding not in before}


def forge(change: Callable[[int, str], str]) -> None:
    """Rewrite the log as its operator could, who has the key."""
    head = LogHead.objects.get()
    texts = [tree.text(number).decode() for number in range(head.size)]
    rows = {row.number: row for row in LogLeaf.objects.all()}
    for model in (LogLeaf, LogTile, LogBundle):
        model.objects.all().delete()
    frontier = Frontier()
    leaves = []
    for number, text in enumerate(texts):
        kind = json.loads(text)["type"]
        subject = rows[number].subject if number in rows else None
        new = change(number, text)
        leaves.append(sequencer.NumberedLeaf(number, kind, subject, new))
    sequencer._store(leaves, frontier)
    signed = TreeHead(head.origin, frontier.size, frontier.root())
    sequencer._sign(head, signed, frontier, load_key())


def other_games(_number: int, text: str) -> str:
    """Change the leaves of all games a little more than the last time."""
    leaf = json.loads(text)
    if leaf["type"] == "game-finished":
        leaf["data"]["why"] = leaf["data"].get("why", "") + "better so"
    return json.dumps(leaf, sort_keys=True, separators=(",", ":"))


@pytest.mark.slow
def test_a_fork_of_a_log_that_was_copied_before_is_found(
    ladder: AuditedLadder,
) -> None:
    """Complete bundles of leaves are not fetched again, so they are the old ones."""
    while LogHead.objects.get().size < TILE_WIDTH:
        ladder.play()
    assert ladder.found() == set()
    forge(other_games)
    forks = [f.text for f in ladder.audit().findings if f.check == Check.FORK]
    assert len(forks) == 2
    assert any("is signed by the log and proves it" in text for text in forks)
    bundles = {
        path: path.read_bytes() for path in ladder.folder.rglob("*") if path.is_file()
    }
    assert Check.FORK in ladder.found()  # the evidence is still there
    assert all(path.read_bytes() == data for path, data in bundles.items())


def test_a_void_that_is_not_in_the_log_is_found(ladder: AuditedLadder) -> None:
    Game.objects.filter(pk=Game.objects.latest("pk").pk).update(status="voided")
    assert ladder.found() == {Check.GAMES}


def test_a_changed_leaf_makes_the_audit_fail(ladder: AuditedLadder) -> None:
    leaf = LogLeaf.objects.earliest("number")
    LogLeaf.objects.filter(pk=leaf.pk).update(text=leaf.text + " ")
    with pytest.raises(AuditFailed, match="root"):
        ladder.audit()


def test_a_log_that_shrinks_is_found(ladder: AuditedLadder) -> None:
    assert ladder.found() == set()
    signed_before = LogHead.objects.values().get()
    ladder.play()
    assert ladder.found() == set()
    LogHead.objects.filter(pk=1).update(**signed_before)
    assert Check.FORK in ladder.found()


def test_another_key_is_refused(ladder: AuditedLadder) -> None:
    assert ladder.found() == set()
    (Path(ladder.folder) / "key").unlink()
    other = "localhost/log+2b68609d+AZfAeqWoP8gI2ftcVhKZP7lEdkt/4MYte0ztsY2iJ9s8"
    with pytest.raises(AuditFailed, match="not to be trusted"):
        ladder.audit(Trust(key=other))
