"""Matchmaking sessions: the rows that they read, and the bots that they refuse."""

import pytest

from ladder.bots.models import Bot
from ladder.games import attempts
from ladder.games.models import Game, Match, Seat
from ladder.ratings import ledger_reader, matchmaking, rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder, Rating, Season
from tests.games import factories
from tests.ratings.factories import end_probation, finish, make_matches
from torres.rating.pool import NEWCOMER_TURNS, Candidate

pytestmark = pytest.mark.django_db


@pytest.fixture
def season() -> Season:
    season = ensure_default_ladder().seasons.get()
    factories.bots(5)
    rater.welcome(season.pk)
    return Season.objects.select_related("ladder").get(pk=season.pk)


def scheduled_bots() -> set[str]:
    games = Game.objects.filter(status="scheduled")
    return set(games.values_list("seats__submission__bot__slug", flat=True))


def test_a_session_reads_new_bots_and_changed_ratings(season):
    end_probation(season)
    session = MatchmakingSession()
    session.pair(season, 1)
    finish(Game.objects.get(), list(range(1, Match.objects.get().seats + 1)))
    rater.fold(season.pk)
    factories.bot("late")
    rater.welcome(season.pk)

    assert session.pair(season, 6) == 6
    assert "late" in scheduled_bots()


def test_a_bot_that_was_banned_since_the_last_call_gets_no_seat(season):
    session = MatchmakingSession()
    session.pair(season, 1)
    Game.objects.update(status="cancelled")
    Bot.objects.filter(slug="bot-2").update(status="banned")

    for _ in range(10):
        session.pair(season, 1)

    assert scheduled_bots() == {"bot-0", "bot-1", "bot-3", "bot-4"}


def test_a_session_drops_withdrawn_bots_at_a_reload(season, monkeypatch):
    end_probation(season)
    monkeypatch.setattr(matchmaking, "RELOAD_S", 0)
    session = MatchmakingSession()
    session.pair(season, 1)
    Game.objects.update(status="cancelled")
    Bot.objects.filter(slug="bot-2").update(status="withdrawn")

    assert session.pair(season, 5) == 5
    assert "bot-2" not in scheduled_bots()


def test_a_crashing_bot_whose_game_was_cancelled_plays_on(season):
    Rating.objects.filter(bot__slug="bot-1").update(latest=0b1111)
    session = MatchmakingSession()
    for _ in range(3):
        session.pair(season, 3)
        assert "bot-1" in scheduled_bots()
        Game.objects.filter(status="scheduled").update(status="cancelled")
        for slug in ("bot-0", "bot-2", "bot-3", "bot-4"):
            pool = session._matchmaker.pool
            pool.charge(pool[Bot.objects.get(slug=slug).pk], 9)


def fail(game: Game, seat: int | None) -> None:
    claim = attempts.claim(game.pk, factories.worker())
    attempts.fail(claim, "it failed", seat=seat)


def candidate_of(session: MatchmakingSession, seat: Seat) -> Candidate:
    return session._matchmaker.pool[seat.submission.bot_id]


def test_an_attempt_that_fails_in_a_seat_is_charged_to_its_bot_once(season):
    session = MatchmakingSession()
    session.pair(season, 1)
    game = Game.objects.get()
    guilty, innocent = game.seats.order_by("number")[:2]
    before = candidate_of(session, guilty).turns
    others = candidate_of(session, innocent).turns

    fail(game, seat=0)
    session.pair(season, 0)
    session.pair(season, 0)

    assert candidate_of(session, guilty).turns == before + 1
    assert candidate_of(session, guilty).unrated == 1
    assert candidate_of(session, innocent).turns == others
    later = MatchmakingSession()
    later.pair(season, 0)
    assert candidate_of(later, guilty).unrated == 1


def test_a_dead_game_counts_as_a_turn_of_its_bots(season):
    """A new session forgets what it charged, and dead games are not rated."""
    session = MatchmakingSession()
    session.pair(season, 1)
    game = Game.objects.get()
    turns = {s: candidate_of(session, s).turns for s in game.seats.all()}
    for _ in range(3):
        fail(game, seat=None)
    game.refresh_from_db()
    assert game.status == "dead"

    session.pair(season, 0)
    later = MatchmakingSession()
    later.pair(season, 0)

    for seat, before in turns.items():
        assert candidate_of(session, seat).turns == before
        assert candidate_of(session, seat).unrated == 1
        assert candidate_of(later, seat).turns == 1 - NEWCOMER_TURNS


def test_a_new_session_knows_the_latest_seats(season):
    Ladder.objects.update(tables={"4": 1})
    season.ladder.refresh_from_db()
    for _ in range(20):
        MatchmakingSession().pair(season, 1)

    for bot in Bot.objects.all():
        seats = [
            Game.objects.filter(seats__submission__bot=bot, seats__number=k).count()
            for k in range(4)
        ]
        assert max(seats) - min(seats) <= 2


def test_each_match_stores_its_reasons(season):
    make_matches(season, 1)

    why = Match.objects.get().why
    assert why["first"]["bot"] in Bot.objects.values_list("pk", flat=True)
    assert why["reasons"][0].startswith("bot-")


def test_duplicate_matches_rotate_the_seats_and_rate_each_game(season):
    Ladder.objects.update(duplicate=True, tables={"3": 1})
    season.ladder.refresh_from_db()
    make_matches(season, 1)
    match = Match.objects.get()

    games = list(match.games.order_by("index"))
    seatings = [
        [seat.submission_id for seat in game.seats.order_by("number")] for game in games
    ]
    assert seatings[1] == [*seatings[0][1:], seatings[0][0]]
    assert seatings[2] == [*seatings[0][2:], *seatings[0][:2]]
    for game in games:
        finish(game, [1, 2, 3])
    assert rater.fold(season.pk) == 3
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []


def test_matches_of_one_pass_share_their_deals_by_seats(season):
    Ladder.objects.update(shared_deals=True, tables={"2": 0.5, "3": 0.5})
    season.ladder.refresh_from_db()
    make_matches(season, 4)
    make_matches(season, 2)
    matches = list(Match.objects.order_by("pk"))
    decks = [(match.seats, match.seed) for match in matches]
    assert len(set(decks[:4])) == 2
    assert not set(decks[:4]) & set(decks[4:])
    for match in matches[:4]:
        finish(match.games.get(), list(range(1, match.seats + 1)))
    rater.fold(season.pk)
    deals = {r.deal for r in ledger_reader.match_results(season.pk, 10**6)}
    assert deals == {match.deal_of_id for match in matches[:4]}


def test_a_match_holds_a_copy_of_its_ladders_slug(season):
    make_matches(season, 1)

    assert Match.objects.get().ladder == season.ladder.slug
