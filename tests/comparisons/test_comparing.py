"""Comparisons of two versions: what the dispatcher's tick makes of them.

The games are finished by hand, so a test says who wins them.
"""

from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ladder.bots import services as bots
from ladder.bots.models import Bot
from ladder.dispatch import dispatcher as dispatch
from ladder.dispatch.dispatcher import Dispatcher
from ladder.extras.comparisons import advance, selectors, services
from ladder.extras.comparisons.models import ComparisonBlock, ComparisonStatus
from ladder.extras.comparisons.services import ComparisonTerms
from ladder.games import attempts, selectors as games, services as game_services
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Attempt, Game, GameStatus, Match, Worker
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import StoppedUnit
from ladder.ratings.cancellation import cancel_unplayable
from ladder.ratings.models import Entry
from ladder.service.containment import Containment
from tests import factories as rows
from tests.comparisons.factories import (
    begun,
    bot,
    finish_all,
    first_seat_wins,
    ladder,
    new_wins,
    old_wins,
    play_out,
    tick,
)
from tests.games.factories import match, worker
from torres.rating.version_test import VersionVerdict

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


def decks(game: Game) -> tuple[str, list[int]]:
    seats = game.seats.select_related("submission").order_by("number")
    return game.match.seed, [seat.submission.number for seat in seats]


def test_a_block_is_one_deal_with_the_versions_exchanged() -> None:
    begun()
    tick(slots=1)

    first, second = Game.objects.order_by("index").select_related("match")
    assert first.match.kind == Match.Kind.COMPARISON
    assert first.match.ladder == ""
    assert first.match.planned == 2
    assert decks(first)[0] == decks(second)[0]
    assert [decks(first)[1], decks(second)[1]] == [[2, 1], [1, 2]]


def test_blocks_take_turns_with_the_table_sizes_of_the_ladder() -> None:
    row = bot()
    services.start(row.owner, row, ladder(t2=0.5, t3=0.25, t4=0.25))
    tick(slots=12)

    seatings: Counter[tuple[int, ...]] = Counter()
    for game in Game.objects.all():
        seatings[tuple(decks(game)[1])] += 1
    assert [block.match.seats for block in ComparisonBlock.objects.order_by("number")][
        :6
    ] == [2, 3, 4, 2, 3, 4]
    exchanged = Counter({tuple(3 - v for v in k): n for k, n in seatings.items()})
    assert seatings == exchanged


@pytest.mark.parametrize(
    ("better", "verdict"),
    [
        (new_wins, VersionVerdict.BETTER),
        (old_wins, VersionVerdict.WORSE),
        (first_seat_wins, VersionVerdict.NO_DIFFERENCE),
    ],
)
def test_it_stops_by_itself_with_the_right_answer(better, verdict) -> None:
    row = play_out(begun(), better)

    assert row.status == ComparisonStatus.DECIDED
    report = selectors.report(row)
    assert report.test.verdict == verdict
    assert row.tested == report.test.tested.total() >= 16
    assert report.games_left is None
    assert not Game.objects.filter(status__in=["scheduled", "running"]).exists()
    assert games.tally().missing == 0


def test_it_changes_no_rating() -> None:
    play_out(begun())

    assert not Entry.objects.exists()
    assert not Match.objects.filter(pairing__isnull=False).exists()


def test_it_is_bounded_in_games() -> None:
    sides = iter([new_wins, old_wins] * 100)
    row = begun(ComparisonTerms(max_games=33))
    for _ in range(100):
        tick(slots=1)
        row.refresh_from_db()
        if row.status != ComparisonStatus.RUNNING:
            break
        finish_all(next(sides))

    assert row.status == ComparisonStatus.UNDECIDED
    assert selectors.report(row).test.verdict == VersionVerdict.UNDECIDED
    assert Game.objects.count() == 32


def test_rated_games_go_first() -> None:
    """Nothing is scheduled while the workers have enough other games."""
    row = begun()
    others = [bot(f"other {k}", f"owner-{k}") for k in range(2)]
    for _ in range(4):
        match(others)

    assert tick(slots=2) == 0
    Game.objects.filter(pk=Game.objects.first().pk).update(status="cancelled")
    assert tick(slots=2) == 2
    first, *_, last = games.due(10)
    assert Game.objects.get(pk=first.game).match.kind == Match.Kind.CHALLENGE
    assert Game.objects.get(pk=last.game).match.kind == Match.Kind.COMPARISON
    assert row.status == ComparisonStatus.RUNNING


def test_an_operator_may_give_it_slots_of_a_busy_ladder(settings) -> None:
    settings.TORRES_COMPARISON_SLOTS = 1
    begun()
    others = [bot(f"other {k}", f"owner-{k}") for k in range(2)]
    for _ in range(20):
        match(others)

    assert tick(slots=2) == 2
    assert tick(slots=2) == 0
    first = games.due(10)[0]
    assert Game.objects.get(pk=first.game).match.kind == Match.Kind.COMPARISON


def test_owners_take_turns() -> None:
    begun()
    ben = bot("Rival", "ben")
    services.start(ben.owner, ben, ladder_of_ana())
    tick(slots=2)

    of = "match__comparison_block__comparison"
    assert set(Counter(Game.objects.values_list(of, flat=True)).values()) == {2}


def ladder_of_ana():
    return selectors.running().get().ladder


def test_a_restart_at_any_moment_loses_nothing() -> None:
    """The dispatcher has no memory: each tick is one of a new process."""
    row = begun()
    for _ in range(6):
        tick()
        finish_all(new_wins)
    played = Game.objects.filter(status="finished").count()
    # A process was killed before it wrote the scores.
    ComparisonBlock.objects.update(score=None)
    type(row).objects.update(tested=0)

    advance.advance(row)

    assert selectors.report(row).test.blocks == played // 2
    assert play_out(row).status == ComparisonStatus.DECIDED


def test_blocks_count_in_their_order() -> None:
    """A block that ends early waits for those before it."""
    row = begun()
    tick(slots=2)
    first, second = row.blocks.order_by("number")
    late = Game.objects.filter(match=first.match_id)
    late.update(status="dead")
    finish_all(new_wins)
    tick(slots=2)

    second.refresh_from_db()
    assert second.score == 1.0
    assert selectors.known_scores(row) == []


def test_two_dispatchers_at_once_schedule_each_block_once() -> None:
    row = begun()
    assert advance.schedule_block(row, 0)
    assert advance.schedule_block(row, 0)

    assert list(row.blocks.values_list("number", flat=True)) == [0, 1]
    services.cancel(row)
    assert not advance.schedule_block(row, 0)


def test_the_owner_cancels_it() -> None:
    row = begun()
    tick()
    assert attempts.claim(Game.objects.first().pk, worker())
    services.cancel(row)

    assert row.status == ComparisonStatus.CANCELLED
    assert not Attempt.objects.filter(outcome="open").exists()
    assert set(Game.objects.values_list("status", flat=True)) == {"cancelled"}
    with pytest.raises(services.ComparisonOver, match="is cancelled already"):
        services.cancel(row)
    assert tick() == 0


def ban(row: Bot) -> None:
    moderation.set_aside(Operator(None, "cheats"), row, moderation.Kind.BAN)


def delete_account(row: Bot) -> None:
    moderation.delete_account(Operator(None, "asked for it"), row.owner)


def deactivate(row: Bot) -> None:
    User.objects.filter(pk=row.owner_id).update(is_active=False)


def upload_again(row: Bot) -> None:
    rows.upload(row, b"third")


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ban, "The bot is banned."),
        (bots.withdraw, "The bot is withdrawn."),
        (delete_account, "The bot is withdrawn."),
        (deactivate, "Nobody answers for the bot any more."),
        (upload_again, "Another version plays now instead of #2."),
    ],
)
def test_it_ends_if_the_bot_may_no_longer_play(event, why: str) -> None:
    row = begun()
    tick()
    finish_all()
    tick()
    event(row.bot)
    cancel_unplayable()
    tick()
    row.refresh_from_db()

    assert (row.status, row.note) == (ComparisonStatus.STOPPED, why)
    assert not Game.objects.filter(status="scheduled").exists()
    assert games.tally().missing == 0
    assert tick() == 0


def test_an_old_version_is_no_reason_to_cancel_games() -> None:
    begun()
    tick()

    assert cancel_unplayable() == 0
    old = bot("another").submissions.first()
    assert game_services.cancel_games_of(old.pk, "x") == 0


def test_a_benched_bot_can_be_compared() -> None:
    row = bot()
    Bot.objects.filter(pk=row.pk).update(status="benched")
    row.refresh_from_db()
    comparison = services.start(row.owner, row, ladder())
    tick()

    assert play_out(comparison).status == ComparisonStatus.DECIDED


def make_dead(game: Game, ago: timedelta) -> None:
    worker()
    Attempt.objects.create(
        game=game,
        fence=game.fence + 1,
        worker=Worker.objects.get(),
        outcome="failed",
        ended_at=timezone.now() - ago,
    )
    Game.objects.filter(pk=game.pk).update(
        status=GameStatus.DEAD, failures=3, fence=game.fence + 1
    )


def test_a_dead_game_is_played_again_and_counts() -> None:
    row = begun()
    tick(slots=1)
    make_dead(Game.objects.first(), timedelta(seconds=5))
    finish_all()
    tick(slots=0)
    assert Game.objects.filter(status="dead").count() == 1

    Attempt.objects.update(ended_at=timezone.now() - timedelta(minutes=1))
    Attempt.objects.filter(outcome="finished").update(ended_at=timezone.now())
    Attempt.objects.filter(outcome="failed").update(
        ended_at=timezone.now() - timedelta(minutes=1)
    )
    tick(slots=0)
    assert finish_all() == 1
    assert play_out(row).status == ComparisonStatus.DECIDED


def test_a_game_that_stays_dead_ends_it_with_the_reason() -> None:
    row = begun()
    tick(slots=1)
    for _ in range(4):
        for game in Game.objects.filter(status="scheduled"):
            make_dead(game, timedelta(hours=1))
        tick(slots=0)
    row.refresh_from_db()

    assert row.status == ComparisonStatus.STOPPED
    assert row.note == "The service failed to play a game of block 1."
    assert games.tally().missing == 0


def test_a_voided_game_is_played_again_and_counts_anew() -> None:
    row = begun()
    for _ in range(3):
        tick()
        finish_all(new_wins)
    tick(slots=0)
    before = selectors.known_scores(row)
    voided = Game.objects.filter(status="finished").earliest("pk")
    game_services.void(voided.pk, "the worker was faulty")
    tick(slots=0)
    assert selectors.known_scores(row) == []
    finish_all(old_wins)
    tick(slots=0)

    assert selectors.known_scores(row) == [0.5, *before[1:]]


def test_a_game_that_an_operator_cancelled_ends_it() -> None:
    row = begun()
    tick(slots=1)
    game_services.cancel(Game.objects.first().pk, "by hand")
    finish_all()
    tick()
    row.refresh_from_db()

    assert row.status == ComparisonStatus.STOPPED
    assert row.note == "A game of block 1 was cancelled or voided."


def test_a_bad_row_stops_one_comparison_only(monkeypatch) -> None:
    """The row is planted with SQL, behind all checks."""
    bad = begun()
    ben = bot("Rival", "ben")
    good = services.start(ben.owner, ben, bad.ladder)
    type(bad).objects.filter(pk=bad.pk).update(sizes=["two"], ruleset="nope")
    pool = WorkerPool((WorkerGroup(offered=None, slots=2),))
    monkeypatch.setattr(dispatch.games, "worker_pool", lambda: pool)
    monkeypatch.setattr(dispatch, "send_hint", lambda *_: None)
    monkeypatch.setattr(dispatch, "UPKEEP_INTERVAL_S", 0.0)
    dispatcher = Dispatcher()
    for _ in range(2):
        dispatcher.tick()

    assert good.blocks.exists()
    assert not bad.blocks.exists()
    (unit,) = StoppedUnit.objects.all()
    assert (unit.kind, unit.name) == ("comparison", str(bad.pk))
    assert "manage.py operator cancel_comparison" in unit.advice
    services.cancel(bad)
    dispatcher.tick()
    assert good.status == ComparisonStatus.RUNNING


def test_without_a_running_comparison_a_tick_costs_one_query() -> None:
    play_out(begun())

    with CaptureQueriesContext(connection) as queries:
        advance.tick(4, Containment())
    assert len(queries) == 1
