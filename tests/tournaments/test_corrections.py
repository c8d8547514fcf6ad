"""Bans, withdrawals, voided games and dead games in a running tournament."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games import services as games
from ladder.games.attempts import claim
from ladder.games.models import Attempt, Game, GameStatus
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations
from ladder.tournaments import advance, corrections, selectors, services
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.games.factories import bots, person
from tests.tournaments.factories import (
    begun,
    play_out,
    play_scheduled,
    standings,
    tick,
    tournament,
    worker,
)

pytestmark = pytest.mark.django_db(transaction=True)
Kind = AuditEntry.Kind


def ban(row: Tournament, slug: str) -> None:
    bot = row.entrants.get(bot__slug=slug).bot
    moderation.set_aside(Operator(person("olga"), "it attacks"), bot, Kind.BAN)


def order(row: Tournament) -> list[str]:
    """Return the bots in the order of the standings."""
    names = {entrant.pk: entrant.bot.slug for entrant in row.entrants.all()}
    return [names[line.key] for line in standings(row).lines]


def test_a_bot_that_an_operator_benched_cannot_enter() -> None:
    """A bench for forfeits concerns one ladder, that of an operator counts here."""
    row = tournament({"format": "swiss"})
    benched, active, *_ = bots(3)
    services.enter(row, benched)
    moderation.set_aside(Operator(None, "it attacks"), benched, Kind.BENCH)
    moderation.set_aside(Operator(None, "it attacks"), active, Kind.BENCH)
    active.refresh_from_db()

    with pytest.raises(services.CannotEnter, match="only active bots"):
        services.enter(row, active)
    moderation.reinstate(Operator(None, "a mistake"), active)
    active.refresh_from_db()
    services.enter(row, active)
    services.enter(row, Bot.objects.get(slug="bot-2"))
    services.start(row)

    out = row.entrants.get(bot=benched)
    assert out.note == "the bot is benched"


# Entrants that leave.


@pytest.mark.parametrize("form", ["swiss", "round_robin"])
def test_a_banned_bot_is_out_and_ranks_below_those_who_stayed(form: str) -> None:
    banned: list[int] = []

    def act(row: Tournament, turn: int) -> None:
        if turn == 1:
            ban(row, "bot-0")
            tick(slots=2)
            games_of_bot = Game.objects.filter(seats__submission__bot__slug="bot-0")
            banned.append(games_of_bot.exclude(status="cancelled").count())

    row = play_out(begun({"format": form}, 5), act)
    entrant = row.entrants.get(bot__slug="bot-0")

    assert entrant.note == "the bot was banned"
    assert order(row)[-1] == "bot-0"
    games_of_bot = Game.objects.filter(seats__submission__bot__slug="bot-0")
    assert [games_of_bot.exclude(status="cancelled").count()] == banned
    assert not games_of_bot.filter(status="scheduled").exists()


def remove_account(row: Tournament, slug: str) -> None:
    owner = row.entrants.get(bot__slug=slug).bot.owner
    assert owner is not None
    moderation.delete_account(Operator(owner, ""), owner)


@pytest.mark.parametrize("leave", [ban, remove_account])
def test_running_games_of_a_bot_that_is_gone_end(
    leave: Callable[[Tournament, str], None],
) -> None:
    """They held a slot until their bots were done, up to hours later."""
    row = begun({"format": "round_robin"}, 2)
    tick(slots=1)
    (game,) = Game.objects.filter(status="scheduled")[:1]
    assert claim(game.pk, worker()) is not None

    leave(row, "bot-0")
    tick(slots=1)

    assert not Game.objects.filter(status__in=["scheduled", "running"]).exists()
    assert row.entrants.get(withdrawn_at=None).bot.slug == "bot-1"


def test_a_larger_table_is_played_without_a_banned_bot() -> None:
    row = begun({"format": "round_robin", "seats": 4, "duplicate": False}, 4)
    tick(slots=1)
    ban(row, "bot-2")
    tick(slots=1)
    match = row.fixtures.get().match
    assert match is not None
    assert match.seats == 3
    play_scheduled(worker())
    tick(slots=1)
    row.refresh_from_db()

    assert row.status == TournamentStatus.FINISHED
    assert order(row)[-1] == "bot-2"
    banned = row.fixtures.get().seats.get(entrant__bot__slug="bot-2")
    assert banned.points == "0"


@pytest.mark.parametrize("config", [{}, {"shared_deals": True}], ids=["", "shared"])
def test_a_ban_between_the_look_and_the_matches_stops_nothing(config: Any) -> None:
    """The look of the tick was over, and the match of one bot could not be made."""
    row = begun({"format": "single_elimination", **config}, 2)
    advance.advance(row)
    ban(row, "bot-0")

    with pytest.raises(services.PlanConflict, match="was banned"):
        advance.schedule(row, 1)
    tick(slots=1)

    row.refresh_from_db()
    assert row.status == TournamentStatus.FINISHED
    assert order(row) == ["bot-1", "bot-0"]
    assert not Game.objects.exists()


def test_an_entrant_that_withdrew_ranks_below_one_that_lost_everything() -> None:
    """An organiser saw an entrant without a game above one that had lost them all."""
    row = begun({"format": "round_robin"}, 4)
    services.withdraw(row.entrants.get(bot__slug="bot-0"))
    row = play_out(row)

    assert order(row)[-1] == "bot-0"
    keys = [line.key for line in standings(row).lines]
    (why,) = standings(row).explain(keys[0], keys[-1])
    assert why == "the second one has left: it ranks below all that stayed"


def test_who_advances_from_groups_is_decided_once() -> None:
    """A player's DELETE in the final changed the finalists, which ended the dispatcher.

    The tables of the groups leave out entrants that left early, so a withdrawal in the
    final changed who had advanced, and the contests of the final fitted no more.
    """
    config = {"format": "groups", "groups": 1, "advance": 3, "seats": 4, "rounds": 1}
    row = begun(config | {"best_of": 3, "duplicate": False}, 7)
    worker_id = worker()
    left: list[str] = []
    for _ in range(40):
        tick(slots=8)
        row.refresh_from_db()
        if row.status == TournamentStatus.FINISHED:
            break
        final = row.fixtures.filter(pool__lte=0, how="").first()
        if final is not None and not left:
            finalist = final.seats.order_by("number")[0].entrant
            services.withdraw(finalist)
            left.append(finalist.bot.slug)
        play_scheduled(worker_id)

    assert row.status == TournamentStatus.FINISHED
    assert left
    finalists = row.entrants.filter(final_seed__isnull=False)
    assert finalists.count() == 3
    assert set(order(row)[:3]) == set(finalists.values_list("bot__slug", flat=True))


def test_a_table_of_two_in_a_larger_swiss_has_seat_numbers() -> None:
    """Seats at tables of three or four are numbers; FIRST and SECOND are not."""
    row = begun({"format": "swiss", "seats": 3, "rounds": 3, "duplicate": False}, 5)
    play_out(row)

    for entrant in row.entrants.all():
        seats = [seat.number for seat in entrant.fixture_seats.all()]
        assert len(set(seats)) >= 2, "always the same seat"


# Voided games.


def test_a_void_in_any_round_of_a_round_robin_counts() -> None:
    """The replacement was played, but the fixture kept the voided result."""
    row = begun({"format": "round_robin", "duplicate": False}, 4)
    worker_id = worker()
    tick(slots=9)
    play_scheduled(worker_id)
    row.fixtures.filter(round=3).update(how="", decided_at=None)
    row.fixtures.filter(round=3).update(match=None)
    tick(slots=9)
    first = row.fixtures.filter(round=1).order_by("pk")[0]
    game = Game.objects.get(match=first.match)
    # As if the voided game had ended the other way.
    first.seats.filter(number=0).update(points="7")
    games.void(game.pk, "the disk was full")
    tick(slots=9)
    first.refresh_from_db()
    assert first.how == ""
    play_scheduled(worker_id)
    tick(slots=9)
    row.refresh_from_db()

    assert row.status == TournamentStatus.FINISHED
    assert not first.seats.filter(points="7").exists()


def test_a_replacement_that_is_played_between_two_looks_counts_too() -> None:
    row = begun({"format": "round_robin", "duplicate": False}, 3)
    worker_id = worker()
    tick(slots=2)
    first = row.fixtures.order_by("pk")[0]
    games_of_first = Game.objects.filter(match=first.match)
    play_scheduled(worker_id)
    last = row.fixtures.order_by("-pk")[0]
    Game.objects.filter(match=last.match).update(status="scheduled")
    tick(slots=2)
    first.seats.filter(number=0).update(points="7")
    games.void(games_of_first.get().pk, "the disk was full")
    replacement = Game.objects.get(replaces__isnull=False)
    assert replacement.status == "scheduled"
    play_scheduled(worker_id)
    tick(slots=2)

    assert not first.seats.filter(points="7").exists()


def test_a_void_changes_nothing_that_others_depend_on() -> None:
    row = begun({"format": "swiss", "rounds": 2, "duplicate": False}, 4)
    worker_id = worker()
    tick(slots=9)
    play_scheduled(worker_id)
    tick(slots=9)
    first = row.fixtures.filter(round=1).order_by("pk")[0]
    games.void(Game.objects.get(match=first.match).pk, "too late")
    for _ in range(3):
        tick(slots=9)
        play_scheduled(worker_id)
    row.refresh_from_db()

    assert row.status == TournamentStatus.FINISHED
    assert row.fixtures.get(pk=first.pk).how == "played"


# Dead games.


def die(row: Tournament) -> Game:
    """Let the first game of a tournament die, as if its upload were lost."""
    match = row.fixtures.order_by("pk")[0].match
    Game.objects.filter(match=match).update(status=GameStatus.DEAD)
    game = Game.objects.filter(match=match).order_by("pk")[0]
    Attempt.objects.create(
        game=game,
        fence=1,
        worker_id=worker(),
        outcome=Attempt.Outcome.FAILED,
        ended_at=timezone.now(),
    )
    return game


def test_our_own_fault_decides_nothing() -> None:
    """A lost file made a game dead in 0.2 s, and the better seed advanced for good."""
    row = begun({"format": "single_elimination", "duplicate": False}, 4)
    tick(slots=9)
    game = die(row)
    for _ in range(3):
        tick(slots=9)
        play_scheduled(worker())
    fixture = row.fixtures.order_by("pk")[0]
    assert fixture.how == ""
    assert not row.fixtures.filter(round=2).exists()

    # Some time after the failure the service plays the game again by itself.
    Attempt.objects.update(ended_at=timezone.now() - timedelta(minutes=1))
    tick(slots=9)
    game.refresh_from_db()
    assert game.status == GameStatus.SCHEDULED
    play_scheduled(worker())
    tick(slots=9)
    fixture.refresh_from_db()
    assert (fixture.how, fixture.retries) == ("played", 1)


def exhausted() -> tuple[Tournament, Game]:
    row = begun({"format": "round_robin", "duplicate": False}, 2)
    tick(slots=9)
    game = die(row)
    row.fixtures.update(retries=selectors.MAX_RETRIES)
    tick(slots=9)
    return row, game


def test_a_fixture_that_cannot_be_played_waits_for_an_operator(client: Any) -> None:
    row, game = exhausted()

    assert list(selectors.fixtures_for_operators()) == [row.fixtures.get()]
    page = client.get(f"/tournaments/{row.slug}/").content.decode()
    assert "Round 1, table 1 waits for the operator" in page
    operations.rerun(Operator(person("olga"), "the file is back"), game.pk)
    play_scheduled(worker())
    tick(slots=9)
    row.refresh_from_db()
    assert (row.fixtures.get().how, row.status) == ("played", "finished")


def test_an_operator_may_give_up_a_fixture() -> None:
    row, _ = exhausted()
    corrections.give_up(row.fixtures.get())
    tick(slots=9)
    row.refresh_from_db()

    assert (row.fixtures.get().how, row.status) == ("dead", "finished")
    assert [s.points for s in row.fixtures.get().seats.all()] == ["1/2", "1/2"]
    with pytest.raises(services.WrongTournamentStatus):
        corrections.give_up(row.fixtures.get())


# Two dispatchers, and operators in between.


def test_a_second_start_does_not_cancel_the_tournament() -> None:
    """Two dispatchers saw the same scheduled start; the later one cancelled it."""
    row = begun({"format": "swiss"}, 4)
    late = Tournament.objects.get(pk=row.pk)
    late.status = TournamentStatus.CHECK_IN
    late.starts_at = timezone.now()
    with pytest.raises(services.WrongTournamentStatus):
        services.apply_schedule(late)
    row.refresh_from_db()
    assert row.status == TournamentStatus.RUNNING


def test_no_match_of_a_cancelled_tournament_is_scheduled() -> None:
    row = begun({"format": "swiss"}, 4)
    tick(slots=0)
    stale = Tournament.objects.get(pk=row.pk)
    services.cancel(row)
    with pytest.raises(services.PlanConflict):
        advance.schedule(stale, 4)
    assert not Game.objects.exists()
