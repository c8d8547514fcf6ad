"""Operators' actions: each is in the audit log, and the ledger stays consistent."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from ladder.bots.models import Bot
from ladder.games import attempts
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.moderation import bots
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations, rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Rating, Season
from tests.factories import make_bot, make_match
from tests.games import factories
from tests.ratings.factories import end_probation, finish, make_matches

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


def assert_ledger_is_consistent(season: Season) -> None:
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []


@pytest.mark.parametrize("kind", [Kind.BENCH, Kind.BAN, Kind.WITHDRAW])
def test_a_bot_that_is_set_aside_plays_no_games(season, operator, kind):
    end_probation(season)
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


def test_a_void_and_a_rerun_leave_the_ledger_consistent(season, operator):
    one, two, *_ = play(season)

    operations.void(operator, one.pk, again=False)
    again = operations.rerun(operator, two.pk)
    while rater.fold(season.pk):
        pass

    assert Entry.objects.filter(kind="void").count() == 2
    finish(
        Game.objects.get(pk=again.details["replacement"]),
        [1, 2, 3, 4][: two.match.seats],
    )
    assert rater.fold(season.pk) == 1
    assert_ledger_is_consistent(season)


def test_a_merged_bot_takes_the_rating_with_the_lower_sigma(season, operator):
    play(season)
    gone = Rating.objects.get(bot=bot(0))
    kept = Rating.objects.get(bot=bot(1))

    operations.merge(operator, bot(0), bot(1))

    now = Rating.objects.get(bot=bot(1))
    assert now.games == gone.games + kept.games
    assert now.sigma == min(gone.sigma, kept.sigma)
    assert not Rating.objects.filter(bot=bot(0)).exists()
    assert rater.welcome(season.pk) == 0
    assert_ledger_is_consistent(season)


def test_a_game_of_a_merged_bot_can_be_played_again(season, operator):
    game = next(g for g in play(season) if g.seats.filter(submission__bot=bot(0)))
    operations.merge(operator, bot(0), bot(1))
    again = operations.rerun(operator, game.pk)
    finish(
        Game.objects.get(pk=again.details["replacement"]),
        [1, 2, 3, 4][: game.match.seats],
    )

    while rater.fold(season.pk):
        pass

    assert_ledger_is_consistent(season)


def test_a_merge_that_must_wait_succeeds_later(season, operator):
    """It took its own cancelling back, so that each call met the same games again."""
    make_matches(season, 8)
    own = Game.objects.filter(seats__submission__bot=bot(0)).order_by("pk")
    running = own.first()
    claim = attempts.claim(running.pk, factories.worker())

    with pytest.raises(NotNow, match="1 of its games still run"):
        operations.merge(operator, bot(0), bot(1))
    assert bot(0).status == Bot.Status.WITHDRAWN
    assert set(own.values_list("status", flat=True)) <= {"running", "cancelled"}
    assert AuditEntry.objects.filter(kind=Kind.WITHDRAW).exists()

    seats = [SeatResult(k, 50 - k, k + 1) for k in range(running.match.seats)]
    assert attempts.finish(
        claim, FinishedGame("completed", "1", b"replay", seats, "{}")
    )
    operations.merge(operator, bot(0), bot(1))
    assert not Rating.objects.filter(bot=bot(0)).exists()
    assert_ledger_is_consistent(season)


def test_a_merge_does_not_wait_for_games_of_others(season, operator):
    make_matches(season, 8)
    game = Game.objects.exclude(seats__submission__bot=bot(0)).first()
    attempts.claim(game.pk, factories.worker())

    operations.merge(operator, bot(0), bot(1))

    assert_ledger_is_consistent(season)


def test_a_deleted_account_keeps_its_results_without_a_name(season, operator):
    play(season)
    before = list(Rating.objects.order_by("bot").values_list("bot", "mu", "games"))
    owner = bot(2).owner
    number = bot(2).pk

    action = bots.delete_account(operator, owner)

    assert not User.objects.filter(username="owner-of-bot-2").exists()
    row = Bot.objects.get(pk=number)
    assert (row.slug, row.owner, row.status) == (
        f"deleted-{number}",
        None,
        Bot.Status.WITHDRAWN,
    )
    assert "owner-of" not in action.target
    after = list(Rating.objects.order_by("bot").values_list("bot", "mu", "games"))
    assert after == before
    assert_ledger_is_consistent(season)


def test_after_a_fixed_rule_only_games_with_another_result_are_played_again(
    season, operator, data_dir, monkeypatch
):
    one, two = make_bot("one", "ana"), make_bot("two", "ben")
    rater.welcome(season.pk)
    match = make_match(one, two)
    season.pairings.create(match=match)
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
    assert Game.objects.get(replaces=game).status == "scheduled"
    assert rater.fold(season.pk) == 1
    assert_ledger_is_consistent(season)


def test_the_console_writes_the_audit_log_and_requires_a_reason(season):
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
