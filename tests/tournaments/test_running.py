"""Tournaments in rows: from the entry to the end, whatever breaks on the way."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ladder.games import attempts, services as games
from ladder.games.models import Game, GameStatus, Match
from ladder.tournaments import advance, selectors, services
from ladder.tournaments.formats.standings import Standings
from ladder.tournaments.models import Fixture, Tournament, TournamentStatus
from tests.games.factories import bot, bots, submission
from tests.tournaments.factories import (
    begun,
    play_due,
    play_out,
    schedule,
    tournament,
    worker,
)

pytestmark = pytest.mark.django_db(transaction=True)

FORMATS = [
    {"format": "round_robin"},
    {"format": "round_robin", "seats": 3, "duplicate": False},
    {"format": "swiss", "rounds": 3},
    {"format": "single_elimination", "best_of": 3},
    {"format": "double_elimination"},
    {"format": "groups", "groups": 2, "advance": 1},
]


def standings(made: Tournament) -> Standings:
    fixtures = [selectors.folded(row) for row in selectors.fixture_rows(made)]
    return Standings(selectors.config(made), selectors.field(made), fixtures)


@pytest.mark.parametrize("config", FORMATS, ids=lambda c: str(c["format"]))
def test_every_format_goes_from_entry_to_final_standings(
    config: dict[str, object],
) -> None:
    made = play_out(begun(config, 5))

    assert made.status == TournamentStatus.FINISHED
    assert made.finished_at is not None
    assert standings(made).lines[0].rank == 1
    assert len(standings(made).lines) == 5
    assert not Game.objects.filter(status__in=["scheduled", "running"]).exists()


def test_a_match_of_two_is_a_duplicate_with_turned_seats() -> None:
    made = begun({"format": "round_robin"}, 2)
    advance.tick(slots=1)
    match = Match.objects.get(fixture__tournament=made)
    seats = [
        [seat.submission.bot.slug for seat in game.seats.order_by("number")]
        for game in match.games.order_by("index")
    ]

    assert seats == [["bot-0", "bot-1"], ["bot-1", "bot-0"]]
    assert {game.queue for game in match.games.all()} == {"tournament"}


def test_an_upload_after_the_start_changes_nothing() -> None:
    made = begun({"format": "round_robin"}, 3)
    pinned = {e.submission_id for e in made.entrants.all()}
    advance.tick(slots=9)
    for entrant in made.entrants.all():
        assert entrant.submission is not None
        submission(entrant.bot)
        games.cancel_games_of(entrant.submission.pk, "a newer version is ready")
    play_out(made)

    assert {
        seat for game in Game.objects.all()
        for seat in game.seats.values_list("submission", flat=True)
    } == pinned  # fmt: skip


def test_withdrawn_bots_lose_by_walkover_and_nobody_waits() -> None:
    def leave(made: Tournament, turn: int) -> None:
        if turn == 1:
            services.withdraw(made.entrants.get(bot__slug="bot-1"))

    made = play_out(begun({"format": "double_elimination"}, 6), leave)

    assert made.fixtures.filter(how="walkover").exists()
    assert made.entrants.get(bot__slug="bot-1").note == "withdrew"


def test_everybody_may_leave() -> None:
    made = begun({"format": "swiss", "rounds": 4}, 4)
    for entrant in made.entrants.all():
        services.withdraw(entrant)

    assert play_out(made).status == TournamentStatus.FINISHED


def test_a_dead_match_is_shared_and_the_rest_goes_on() -> None:
    def die(made: Tournament, turn: int) -> None:
        if turn == 0:
            match = made.fixtures.order_by("pk")[0].match
            Game.objects.filter(match=match).update(status=GameStatus.DEAD)

    made = play_out(begun({"format": "swiss", "rounds": 3}, 4), die)
    dead = made.fixtures.get(how="dead")

    assert [chair.points for chair in dead.chairs.all()] == ["1/2", "1/2"]


def test_a_voided_game_of_the_last_round_is_waited_for() -> None:
    made = begun({"format": "round_robin"}, 2)
    who = worker()
    advance.tick(slots=2)
    play_due(who)
    first = Game.objects.order_by("pk")[0]
    games.void(first.pk, "the disk was full")
    advance.tick(slots=2)

    assert made.fixtures.get().how == ""
    play_due(who)
    advance.tick(slots=2)
    made.refresh_from_db()
    assert made.status == TournamentStatus.FINISHED


def test_a_lost_worker_delays_its_game_only() -> None:
    def lose(made: Tournament, turn: int) -> None:
        del made
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


def test_ticks_may_be_doubled_and_change_nothing() -> None:
    made = begun({"format": "single_elimination"}, 5)
    who = worker()
    for _ in range(3):
        advance.tick(slots=20)
    before = schedule(made)
    for _ in range(30):
        advance.tick(slots=20)
        advance.tick(slots=20)
        play_due(who)

    made.refresh_from_db()
    assert {str(row[0]) for row in before} <= {str(row[0]) for row in schedule(made)}
    assert made.fixtures.count() == 4
    assert made.status == TournamentStatus.FINISHED


def test_a_step_that_came_too_late_writes_nothing() -> None:
    made = begun({"format": "round_robin"}, 3)
    advance.tick(slots=1)
    before = [selectors.folded(row) for row in selectors.fixture_rows(made)]
    Fixture.objects.filter(tournament=made, round=3).delete()

    with pytest.raises(advance.PlanConflict):
        advance._write(made, before, before)


def test_tournaments_keep_a_shallow_stock_so_that_ladders_get_their_half() -> None:
    begun({"format": "round_robin"}, 12)
    advance.tick(slots=2)

    assert selectors.open_games() == advance.STOCK * 2
    advance.tick(slots=2)
    assert selectors.open_games() == advance.STOCK * 2


def test_two_tournaments_share_the_slots() -> None:
    one = begun({"format": "round_robin"}, 6, slug="one")
    two = tournament({"format": "round_robin"}, slug="two")
    for entrant in one.entrants.all():
        services.enter(two, entrant.bot)
    services.start(two)
    advance.tick(slots=4)

    for made in (one, two):
        assert made.fixtures.exclude(match=None).count() == 3


# The way to the start.


def test_the_clock_opens_closes_and_starts() -> None:
    now = timezone.now()
    made = Tournament.objects.create(
        slug="clock", name="Clock", limits={}, opens_at=now - timedelta(hours=1)
    )
    advance.tick(slots=0)
    made.refresh_from_db()
    assert made.status == TournamentStatus.ENTRY
    for one in bots(3):
        services.enter(made, one)
    Tournament.objects.update(starts_at=now)
    advance.tick(slots=0)
    made.refresh_from_db()

    assert made.status == TournamentStatus.RUNNING
    assert [e.seed for e in selectors.started(made)] == [1, 2, 3]


def test_a_scheduled_start_with_too_few_cancels_it() -> None:
    made = tournament({}, starts_at=timezone.now())
    services.enter(made, bot("lonely"))
    advance.tick(slots=0)
    made.refresh_from_db()

    assert made.status == TournamentStatus.CANCELLED


def test_who_does_not_check_in_is_left_out_and_told() -> None:
    made = tournament({"format": "round_robin"}, must_check_in=True)
    for one in bots(3):
        services.enter(made, one)
    services.close_entry(made)
    for slug in ("bot-1", "bot-2"):
        services.check_in(made.entrants.get(bot__slug=slug))
    services.start(made)

    assert [e.bot.slug for e in selectors.started(made)] == ["bot-1", "bot-2"]
    assert made.entrants.get(bot__slug="bot-0").note == "did not check in"


def test_seeds_by_hand_come_first() -> None:
    made = tournament({"format": "round_robin"})
    field = bots(3)
    services.enter(made, field[0])
    services.enter(made, field[1], seed=5)
    services.enter(made, field[2], seed=2)
    services.start(made)

    assert [e.bot.slug for e in selectors.started(made)] == ["bot-2", "bot-1", "bot-0"]


def test_a_reserve_takes_the_place_of_one_who_has_not_played() -> None:
    made = begun({"format": "round_robin"}, 3)
    entrant = made.entrants.get(bot__slug="bot-2")
    services.withdraw(entrant)
    services.substitute(entrant, bot("reserve"))
    play_out(made)

    assert {e.bot.slug for e in selectors.started(made)} == {
        "bot-0",
        "bot-1",
        "reserve",
    }
    assert not made.fixtures.filter(how="walkover").exists()
    entrant.refresh_from_db()
    with pytest.raises(services.WrongTime):
        services.substitute(entrant, bot("too-late"))


def test_entry_is_refused_with_the_reason() -> None:
    made = tournament({})
    with pytest.raises(services.CannotEnter, match="no submission that is ready"):
        services.enter(made, bot("empty", ready=False))
    with pytest.raises(services.NotEntered, match="is not in this tournament"):
        services.entrant_of(made, bot("stranger"))
    services.cancel(made)
    with pytest.raises(services.WrongTime, match="Entry is not open"):
        services.enter(made, bot("late"))
    with pytest.raises(services.WrongTime, match="The tournament is cancelled;"):
        services.start(made)


def test_a_tournament_that_cannot_be_played_is_not_announced() -> None:
    with pytest.raises(services.BadTournament, match="best_of"):
        tournament({"best_of": 4})
    with pytest.raises(services.BadTournament):
        tournament({}, slug="two", ruleset="chess")
