"""What operators do: every act is noted, and what moves ratings is in the ledger."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from ladder.bots.models import Bot
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.moderation import bots, games
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations, rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Rating, Season
from tests.factories import make_bot, make_match
from tests.games import factories
from tests.ratings.factories import finish, make_matches

pytestmark = pytest.mark.django_db
Kind = AuditEntry.Kind


@pytest.fixture
def season() -> Season:
    season = ensure_default_ladder().seasons.get()
    factories.bots(5)
    rater.welcome(season.pk)
    return season


@pytest.fixture
def operator() -> Operator:
    return Operator(factories.person("olga"), "because")


def play(season: Season, matches: int = 6) -> list[Game]:
    make_matches(season, matches)
    played = list(Game.objects.filter(status="scheduled"))
    for game in played:
        finish(game, list(range(1, game.match.seats + 1)))
    rater.fold(season.pk)
    return played


def bot(number: int) -> Bot:
    return Bot.objects.get(slug=f"bot-{number}")


def assert_it_folds(season: Season) -> None:
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []


@pytest.mark.parametrize("kind", [Kind.BENCH, Kind.BAN, Kind.WITHDRAW])
def test_a_bot_that_is_set_aside_plays_no_more(season, operator, kind):
    make_matches(season, 8)

    action = bots.set_aside(operator, bot(1), kind)

    assert (action.by.username, action.target) == ("olga", "bot bot-1")
    waiting = Game.objects.filter(status="scheduled")
    assert not waiting.filter(seats__submission__bot=bot(1)).exists()
    make_matches(season, 8)
    assert not waiting.filter(seats__submission__bot=bot(1)).exists()
    bots.reinstate(operator, bot(1))
    make_matches(season, 8)
    assert waiting.filter(seats__submission__bot=bot(1)).exists()


def test_a_void_and_a_rerun_leave_the_ledger_sound(season, operator):
    one, two, *_ = play(season)

    games.void(operator, one.pk, again=False)
    again = games.rerun(operator, two.pk)
    while rater.fold(season.pk):
        pass

    assert Entry.objects.filter(kind="void").count() == 2
    finish(
        Game.objects.get(pk=again.details["replacement"]),
        [1, 2, 3, 4][: two.match.seats],
    )
    assert rater.fold(season.pk) == 1
    assert_it_folds(season)


def test_a_merged_bot_goes_on_as_the_better_known_one(season, operator):
    play(season)
    gone, kept = Rating.objects.get(bot=bot(0)), Rating.objects.get(bot=bot(1))

    operations.merge(operator, bot(0), bot(1))

    now = Rating.objects.get(bot=bot(1))
    assert now.games == gone.games + kept.games
    assert now.sigma == min(gone.sigma, kept.sigma)
    assert not Rating.objects.filter(bot=bot(0)).exists()
    assert rater.welcome(season.pk) == 0
    assert_it_folds(season)


def test_a_game_of_a_merged_bot_that_is_played_again_stops_nobody(season, operator):
    game = next(g for g in play(season) if g.seats.filter(submission__bot=bot(0)))
    operations.merge(operator, bot(0), bot(1))
    again = games.rerun(operator, game.pk)
    finish(
        Game.objects.get(pk=again.details["replacement"]),
        [1, 2, 3, 4][: game.match.seats],
    )

    while rater.fold(season.pk):
        pass

    assert_it_folds(season)


def test_nothing_is_merged_while_games_of_it_wait_to_be_rated(season, operator):
    make_matches(season, 8)
    game = Game.objects.filter(seats__submission__bot=bot(0)).first()
    finish(game, [1, 2, 3, 4][: game.match.seats])

    with pytest.raises(NotNow):
        operations.merge(operator, bot(0), bot(1))
    assert bot(0).status == Bot.Status.ACTIVE


def test_a_deleted_account_leaves_results_without_a_name(season, operator):
    play(season)
    before = list(Rating.objects.order_by("bot").values_list("bot", "mu", "games"))
    owner = bot(2).owner
    number = bot(2).pk

    action = bots.delete_account(operator, owner)

    assert not User.objects.filter(username="owner-of-bot-2").exists()
    left = Bot.objects.get(pk=number)
    assert (left.slug, left.owner, left.status) == (
        f"deleted-{number}",
        None,
        Bot.Status.WITHDRAWN,
    )
    assert "owner-of" not in action.target
    after = list(Rating.objects.order_by("bot").values_list("bot", "mu", "games"))
    assert after == before
    assert_it_folds(season)


def test_after_a_mended_rule_only_what_comes_out_otherwise_is_played_again(
    season, operator, data_dir, monkeypatch
):
    one, two = make_bot("one", "ana"), make_bot("two", "ben")
    rater.welcome(season.pk)
    match = make_match(one, two)
    season.pairings.create(match=match, why={})
    rater.fold(season.pk)
    assert list(operations.misjudged(season)) == []

    def refuse(_document: object) -> None:
        raise operations.replay_format.InvalidReplay(
            "move 3", "this knight may not climb"
        )

    monkeypatch.setattr(operations.replay, "verify", refuse)
    out = StringIO()
    call_command("operator", "misjudged", "main", "--void", stdout=out)

    game = match.games.get(status="voided")
    assert "may not climb" in out.getvalue()
    assert game.replacement.status == "scheduled"
    assert rater.fold(season.pk) == 1
    assert_it_folds(season)


def test_the_console_notes_what_it_does_and_wants_a_reason(season):
    with pytest.raises(CommandError, match="--why"):
        call_command("operator", "ban", "bot-3")
    with pytest.raises(CommandError, match="no bot"):
        call_command("operator", "ban", "nobody", "--why=x")
    out = StringIO()
    call_command("operator", "ban", "bot-3", "--why=it cheats", stdout=out)
    call_command("operator", "freeze", "main", "--why=a pause", stdout=out)
    call_command("operator", "log", stdout=out)

    assert "ban bot bot-3 by the service: it cheats" in out.getvalue()
    season.refresh_from_db()
    assert season.status == Season.Status.FROZEN
