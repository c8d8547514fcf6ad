"""Tournaments in rows, from entry to the end, also if something breaks on the way."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ladder.games import attempts, services as games
from ladder.games.models import Game, Match
from ladder.tournaments import advance, selectors, services
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.games.factories import bot, bots, submission
from tests.tournaments.factories import (
    FORMATS,
    begun,
    play_out,
    play_scheduled,
    schedule,
    standings,
    tick,
    tournament,
    worker,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("config", FORMATS, ids=lambda c: str(c["format"]))
def test_every_format_goes_from_entry_to_final_standings(
    config: dict[str, object],
) -> None:
    row = play_out(begun(config, 5))

    assert row.status == TournamentStatus.FINISHED
    assert row.finished_at is not None
    assert standings(row).lines[0].rank == 1
    assert len(standings(row).lines) == 5
    assert not Game.objects.filter(status__in=["scheduled", "running"]).exists()


def test_a_match_of_two_is_a_duplicate_with_rotated_seats() -> None:
    row = begun({"format": "round_robin"}, 2)
    tick(slots=1)
    match = Match.objects.get(fixture__tournament=row)
    seats = [
        [seat.submission.bot.slug for seat in game.seats.order_by("number")]
        for game in match.games.order_by("index")
    ]

    assert seats == [["bot-0", "bot-1"], ["bot-1", "bot-0"]]
    assert {game.queue for game in match.games.all()} == {"tournament"}


def test_a_round_with_shared_deals_is_scheduled_at_once_with_one_deal() -> None:
    row = begun({"format": "round_robin", "shared_deals": True}, 6)
    tick(slots=1)
    matches = Match.objects.filter(fixture__tournament=row)

    assert {match.fixture.round for match in matches} == {1}
    assert len(matches) == 3
    assert len({match.seed for match in matches}) == 1
    play_out(row)
    by_round = {
        (match.fixture.round, match.seed)
        for match in Match.objects.filter(fixture__tournament=row)
    }
    assert len(by_round) == 5


def test_the_matches_of_a_contest_have_deals_of_their_own() -> None:
    config = {"format": "single_elimination", "best_of": 3, "shared_deals": True}
    row = play_out(begun(config, 4))
    first_round = Match.objects.filter(fixture__tournament=row, fixture__round=1)
    deals = {(match.fixture.leg, match.seed) for match in first_round}

    assert len({seed for _, seed in deals}) == len(deals)
    assert len(first_round.filter(fixture__leg=0).values("seed").distinct()) == 1


def test_an_upload_after_the_start_changes_nothing() -> None:
    row = begun({"format": "round_robin"}, 3)
    pinned = {e.submission_id for e in row.entrants.all()}
    tick(slots=9)
    for entrant in row.entrants.all():
        assert entrant.submission is not None
        submission(entrant.bot)
        games.cancel_games_of(entrant.submission.pk, "a newer version is ready")
    play_out(row)

    assert {
        seat for game in Game.objects.all()
        for seat in game.seats.values_list("submission", flat=True)
    } == pinned  # fmt: skip


def test_withdrawn_bots_lose_by_walkover_and_nobody_waits() -> None:
    def leave(row: Tournament, turn: int) -> None:
        if turn == 1:
            services.withdraw(row.entrants.get(bot__slug="bot-1"))

    row = play_out(begun({"format": "double_elimination"}, 6), leave)

    assert row.fixtures.filter(how="walkover").exists()
    assert row.entrants.get(bot__slug="bot-1").note == "withdrew"


def test_a_tournament_that_everybody_leaves_ends() -> None:
    row = begun({"format": "swiss", "rounds": 4}, 4)
    for entrant in row.entrants.all():
        services.withdraw(entrant)

    assert play_out(row).status == TournamentStatus.FINISHED


def test_a_voided_game_of_the_last_round_is_waited_for() -> None:
    row = begun({"format": "round_robin"}, 2)
    worker_id = worker()
    tick(slots=2)
    play_scheduled(worker_id)
    first = Game.objects.order_by("pk")[0]
    games.void(first.pk, "the disk was full")
    tick(slots=2)

    assert row.fixtures.get().how == ""
    play_scheduled(worker_id)
    tick(slots=2)
    row.refresh_from_db()
    assert row.status == TournamentStatus.FINISHED


def test_a_lost_worker_delays_its_game_only() -> None:
    def lose(row: Tournament, turn: int) -> None:
        game = Game.objects.filter(status="scheduled").order_by("pk").first()
        if turn < 3 and game is not None:
            claim = attempts.claim(game.pk, worker())
            assert claim is not None
            Game.objects.filter(pk=game.pk).update(
                lease_until=timezone.now() - timedelta(seconds=1)
            )
            attempts.reap()

    assert (
        play_out(begun({"format": "swiss"}, 5), lose).status
        == TournamentStatus.FINISHED
    )


def test_additional_ticks_change_nothing() -> None:
    row = begun({"format": "single_elimination"}, 5)
    worker_id = worker()
    for _ in range(3):
        tick(slots=20)
    before = schedule(row)
    for _ in range(30):
        tick(slots=20)
        tick(slots=20)
        play_scheduled(worker_id)

    row.refresh_from_db()
    assert {str(row[0]) for row in before} <= {str(row[0]) for row in schedule(row)}
    assert row.fixtures.count() == 4
    assert row.status == TournamentStatus.FINISHED


def test_a_step_that_is_too_late_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = begun({"format": "swiss"}, 4)
    tick(slots=2)
    play_scheduled(worker())
    fold = advance._fold

    def other_process_first(*arguments: Any) -> Any:
        monkeypatch.setattr(advance, "_fold", fold)
        advance.advance(row)
        return fold(*arguments)

    monkeypatch.setattr(advance, "_fold", other_process_first)

    with pytest.raises(services.PlanConflict):
        advance.advance(row)
    assert row.fixtures.filter(round=2).count() == 2


def test_tournaments_keep_a_shallow_stock_so_that_ladders_get_their_half() -> None:
    begun({"format": "round_robin"}, 12)
    tick(slots=2)

    assert selectors.open_games() == advance.OPEN_GAMES_PER_SLOT * 2
    tick(slots=2)
    assert selectors.open_games() == advance.OPEN_GAMES_PER_SLOT * 2


def test_two_tournaments_share_the_slots() -> None:
    one = begun({"format": "round_robin"}, 6, slug="one")
    two = tournament({"format": "round_robin"}, slug="two")
    for entrant in one.entrants.all():
        services.enter(two, entrant.bot)
    services.start(two)
    tick(slots=4)

    for row in (one, two):
        assert row.fixtures.exclude(match=None).count() == 3


# Until the start.


def test_the_schedule_opens_entry_closes_it_and_starts() -> None:
    now = timezone.now()
    row = Tournament.objects.create(
        slug="clock", name="Clock", opens_at=now - timedelta(hours=1)
    )
    tick(slots=0)
    row.refresh_from_db()
    assert row.status == TournamentStatus.ENTRY
    for one in bots(3):
        services.enter(row, one)
    Tournament.objects.update(starts_at=now)
    tick(slots=0)
    row.refresh_from_db()

    assert row.status == TournamentStatus.RUNNING
    assert [e.seed for e in selectors.started_entrants(row)] == [1, 2, 3]


def test_a_scheduled_start_with_too_few_cancels_it() -> None:
    row = tournament({})
    services.enter(row, bot("lonely"))
    Tournament.objects.update(starts_at=timezone.now() - timedelta(seconds=1))
    tick(slots=0)
    row.refresh_from_db()

    assert row.status == TournamentStatus.CANCELLED
    assert row.note.startswith("At the scheduled start: Only 1 can play")


def test_a_bot_that_does_not_check_in_is_left_out_with_a_note() -> None:
    row = tournament({"format": "round_robin"}, must_check_in=True)
    for one in bots(3):
        services.enter(row, one)
    services.close_entry(row)
    for slug in ("bot-1", "bot-2"):
        services.check_in(row.entrants.get(bot__slug=slug))
    services.start(row)

    assert [e.bot.slug for e in selectors.started_entrants(row)] == ["bot-1", "bot-2"]
    assert row.entrants.get(bot__slug="bot-0").note == "did not check in"


def test_manual_seeds_come_first() -> None:
    row = tournament({"format": "round_robin"})
    field = bots(3)
    services.enter(row, field[0])
    services.enter(row, field[1], seed=5)
    services.enter(row, field[2], seed=2)
    services.start(row)

    assert [e.bot.slug for e in selectors.started_entrants(row)] == [
        "bot-2",
        "bot-1",
        "bot-0",
    ]


def test_entry_is_refused_with_the_reason() -> None:
    row = tournament({})
    with pytest.raises(services.CannotEnter, match="no submission that is ready"):
        services.enter(row, bot("empty", ready=False))
    with pytest.raises(services.NotEntered, match="is not in this tournament"):
        services.entrant_of(row, bot("stranger"))
    services.cancel(row)
    with pytest.raises(services.WrongTournamentStatus, match="Entry is not open"):
        services.enter(row, bot("late"))
    with pytest.raises(services.WrongTournamentStatus, match="is cancelled;"):
        services.start(row)


def test_a_tournament_that_cannot_be_played_is_not_announced() -> None:
    with pytest.raises(services.BadTournament, match="best_of"):
        tournament({"best_of": 4})
    with pytest.raises(services.BadTournament):
        tournament({}, slug="two", ruleset="chess")
