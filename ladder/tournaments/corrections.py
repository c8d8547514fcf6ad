"""Repairs that a step makes first: bans, corrected results, dead games.

Our own faults decide nothing for good. A fixture whose game was voided takes the result
of the replacement, as long as nothing was scheduled that depends on the old one. A
fixture with a dead game waits: the service plays the game again, up to MAX_RETRIES
times, and then an operator has to act.
"""

import structlog
from django.db import transaction
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.games import services as games
from ladder.tournaments import facts, selectors, services
from ladder.tournaments.models import Fixture, Tournament
from torres.formats.config import Config
from torres.formats.plan import may_reopen

MIN_SEATS_TO_PLAY_ON = 3

log = structlog.get_logger()


def repair(tournament: Tournament) -> None:
    """Do what has to be done before a tournament advances.

    1. Withdraw entrants whose bot was banned.
    2. Reopen decided fixtures that have to take another result.
    3. Play dead games again, as often as the service does so by itself.
    """
    withdraw_banned(tournament)
    reopen_corrected(tournament, selectors.config(tournament))
    play_dead_games_again(tournament)


def withdraw_banned(tournament: Tournament) -> None:
    """Withdraw the entrants whose bot was banned, or whose owner's account was deleted.

    At a table of two the opponent wins by walkover. A larger table is played without
    the banned bot, which ranks last there.
    """
    for entrant in selectors.banned_entrants(tournament):
        was_banned = entrant.bot.status == Bot.Status.BANNED
        why = "the bot was banned" if was_banned else "the account was deleted"
        services.withdraw(entrant, why)
        seated = tournament.fixtures.filter(
            how="", match__isnull=False, seats__entrant=entrant
        )
        for fixture in seated.filter(match__seats__gte=MIN_SEATS_TO_PLAY_ON):
            detach(fixture, "scheduled again without a banned bot")


def detach(fixture: Fixture, note: str) -> None:
    """Detach a match that has not begun, so that another one is scheduled."""
    if fixture.match is None:
        return
    with transaction.atomic():
        planned = fixture.match.planned
        if services.cancel_scheduled_games(fixture.match.pk, note) < planned:
            # A game has begun. It goes on, and so must the others.
            transaction.set_rollback(True)
            return
        Fixture.objects.filter(pk=fixture.pk, how="").update(match=None)


def reopen_corrected(tournament: Tournament, config: Config) -> None:
    """Reopen the decided fixtures whose games give another result now.

    If something was scheduled that depends on the old result, the result stands.
    """
    corrected = selectors.corrected_fixtures(tournament)
    if not corrected:
        return
    records = selectors.fixture_records(tournament)
    entrants = selectors.seeded_entrants(tournament)
    for row in corrected:
        is_open = selectors.has_open_games(row)
        stored = records[row.pk].result
        if not is_open and selectors.result_of_match(row, config) == stored:
            continue
        key = selectors.fixture_key(row)
        if may_reopen(config, entrants, list(records.values()), key):
            with transaction.atomic():
                reopened = Fixture.objects.filter(pk=row.pk)
                reopened.update(how="", decided_at=None)
                facts.log_decisions(tournament, reopened)
            log.info("fixture reopened", tournament=tournament.slug, fixture=row.pk)
        elif not is_open:
            # Looked at, so that the next look does not find it again.
            Fixture.objects.filter(pk=row.pk).exclude(how="").update(decided_at=Now())


def play_dead_games_again(tournament: Tournament) -> None:
    """Schedule dead games again, some time after the service failed to play them."""
    for row in selectors.fixtures_with_dead_games(tournament):
        if row.retries >= selectors.MAX_RETRIES:
            continue
        fixture = Fixture.objects.filter(pk=row.pk)
        if revived := games.retry_dead_games(row.match_id, fixture, row.retries):
            log.info("dead games are played again", fixture=row.pk, games=revived)


def give_up(fixture: Fixture) -> None:
    """Decide a fixture without its dead games, in the next look at the tournament.

    Its other games count. If there is none, the entrants share the points. Meant for an
    operator who cannot repair the cause. Raises WrongTournamentStatus.
    """
    dead = selectors.dead_games(fixture)
    if fixture.how or not dead or selectors.has_open_games(fixture):
        raise services.WrongTournamentStatus(
            "Only an open fixture can be given up of which the service failed to play a"
            " game and no game is open."
        )
    with transaction.atomic():
        for game in dead:
            games.abandon(game, "given up by an operator")
