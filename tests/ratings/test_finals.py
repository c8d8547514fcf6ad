import pytest

from ladder.dispatch.dispatcher import OPEN_GAMES_PER_SLOT, Dispatcher
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.ratings import rater, rebuild, seasons
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Entry, Rating, Season
from tests.games import factories
from tests.ratings.factories import end_probation, finish, make_matches
from tests.ratings.simulations import board
from torres.rating import stopping_rule
from torres.rating.pairing import PairingTerms
from torres.rating.simulation import SimulatedLadder, SimulationPlan
from torres.rating.trueskill import Parameters, Skill, higher_skill_probability


def test_the_order_of_two_equal_bots_is_open_and_that_of_two_distant_ones_settled():
    equal = [Skill(25, 1), Skill(25, 1)]
    assert stopping_rule.order_error(equal, 1) == pytest.approx(0.5)
    assert stopping_rule.order_error([Skill(40, 1), Skill(25, 1)], 1) < 1e-9


def test_each_bot_below_the_last_prize_adds_to_the_error():
    board = [Skill(30, 1), Skill(27, 1), *[Skill(24.5, 1)] * 3]
    one = higher_skill_probability(Skill(27, 1), Skill(30, 1))
    others = 3 * higher_skill_probability(Skill(24.5, 1), Skill(27, 1))

    assert stopping_rule.order_error(board, 2) == pytest.approx(one + others)


def test_a_bot_that_can_hardly_win_a_prize_is_eliminated():
    board = [Skill(30, 1), Skill(29, 1), Skill(28, 1), Skill(10, 1), Skill(9, 1)]

    assert stopping_rule.remaining_indices(board, 1, at_least=2) == [0, 1, 2]
    assert stopping_rule.remaining_indices(board, 1, at_least=4) == [0, 1, 2, 3]


def test_a_settled_order_is_the_true_one_nearly_always():
    right = 0
    for seed in range(12):
        plan = SimulationPlan(
            PairingTerms({"4": 1.0}, Parameters(tau=0.0)), 8, seed, open_matches=2
        )
        ladder = SimulatedLadder(plan)
        for _ in range(200):
            ladder.play()
            skills = [ladder.state.bots[bot].skill for bot in board(ladder)]
            if stopping_rule.order_error(skills, 2) <= stopping_rule.MAX_ORDER_ERROR:
                break
        true = sorted(ladder.skills, key=lambda bot: -ladder.skills[bot])
        right += board(ladder)[:2] == true[:2]

    assert right >= 11


@pytest.fixture
def season(db) -> Season:
    season = ensure_default_ladder().seasons.get()
    factories.bots(6)
    rater.welcome(season.pk)
    return Season.objects.select_related("ladder").get(pk=season.pk)


def play(season: Season, session: MatchmakingSession, matches: int = 4) -> None:
    """Play and rate matches in which the bot with the lower number wins."""
    session.pair(season, matches)
    for game in Game.objects.filter(status="scheduled").order_by("pk"):
        bots = [seat.submission.bot_id for seat in game.seats.all()]
        finish(game, [sorted(bots).index(bot) + 1 for bot in bots])
    rater.fold(season.pk)


def test_finals_play_on_until_the_prizes_are_settled(season):
    session = MatchmakingSession()
    play(season, session)
    seasons.start_finals(season, prizes=2)
    assert season.parameters["tau"] == 0

    for _ in range(100):
        if seasons.settle(season):
            break
        play(season, session)
    seasons.archive(season)

    assert season.status == Season.Status.ARCHIVED
    assert season.outcome["settled"]
    assert season.outcome["places"] == ["bot-0", "bot-1"]
    assert rebuild.check(season).complaints == []


def test_finals_are_played_with_the_code_from_before_them(season):
    play(season, MatchmakingSession())
    end_probation(season)
    seasons.start_finals(season, prizes=1)
    bot = Rating.objects.filter(season=season).first().bot
    old = Rating.objects.get(bot=bot).submission_id
    factories.submission(bot)

    assert rater.welcome(season.pk) == 0
    assert Rating.objects.get(bot=bot).submission_id == old
    assert MatchmakingSession().pair(season, 20) == 20
    assert Game.objects.filter(status="scheduled", seats__submission=old).exists()


def test_a_frozen_season_is_played_out_and_may_go_on(season):
    make_matches(season, 1)
    seasons.freeze(season)
    factories.bot("late")
    assert rater.welcome(season.pk) == 0
    with pytest.raises(NotNow):
        seasons.start_finals(season, prizes=3)

    seasons.reopen(season)
    assert rater.welcome(season.pk) == 1


def test_the_next_season_starts_from_nothing_when_the_last_is_archived(season):
    play(season, MatchmakingSession())
    with pytest.raises(NotNow):
        seasons.start_season(season.ladder)
    make_matches(season, 1)
    seasons.close(season)
    seasons.archive(season)
    assert Game.objects.filter(status="cancelled").exists()

    new = seasons.start_season(season.ladder)
    assert rater.welcome(new.pk) == 6
    assert set(new.ratings.values_list("mu", flat=True)) == {25.0}
    assert season.ratings.exclude(mu=25.0).exists()
    assert Entry.objects.filter(season=new, seq=1, kind="season_start").exists()


def test_the_dispatcher_makes_matches_and_ends_finals(season, monkeypatch):
    two = WorkerPool([WorkerGroup(None, slots=2)])
    monkeypatch.setattr("ladder.dispatch.dispatcher.games.worker_pool", lambda: two)
    monkeypatch.setattr("ladder.dispatch.dispatcher.send_hint", lambda *_: None)
    end_probation(season)
    dispatcher = Dispatcher()
    assert dispatcher.tick().paired == 2 * OPEN_GAMES_PER_SLOT
    Game.objects.update(status="cancelled")
    seasons.start_finals(season, prizes=1)
    Rating.objects.filter(bot__slug="bot-3").update(mu=60, sigma=1)

    Dispatcher().tick()

    season.refresh_from_db()
    assert season.status == Season.Status.FROZEN
    assert not Game.objects.filter(status="scheduled").exists()
