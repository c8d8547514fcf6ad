"""The life of a season: open, frozen, finals, archived, and the next one.

open ⇄ frozen → finals → frozen → archived; a season may be archived without finals.
"""

from dataclasses import asdict, replace

from django.db import transaction
from django.db.models.functions import Now

from ladder.games import services as games
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.ratings import ledger_writer, rater, selectors
from ladder.ratings.core import stopping_rule
from ladder.ratings.core.trueskill import Parameters
from ladder.ratings.models import Entry, Ladder, Season

Status = Season.Status


def start_season(ladder: Ladder) -> Season:
    """Start the next season; the one before it has to be archived."""
    with transaction.atomic():
        last = ladder.seasons.order_by("-number").first()
        if last and last.status != Status.ARCHIVED:
            raise NotNow(f"{last} has to be archived first.")
        season = Season.objects.create(
            ladder=ladder, number=last.number + 1 if last else 1
        )
        inputs = {"parameters": asdict(parameters(ladder))}
        ledger_writer.append(
            season, lambda page: page.add(Entry.Kind.SEASON_START, inputs)
        )
    season.refresh_from_db()
    return season


def parameters(ladder: Ladder) -> Parameters:
    return Parameters(ladder.mu, ladder.sigma, ladder.beta, ladder.tau)


def freeze(season: Season) -> None:
    """Make no more matches; what is scheduled is played and rated."""
    _move(season, (Status.OPEN, Status.FINALS), Status.FROZEN)


def reopen(season: Season) -> None:
    """Go on after a freeze, unless the finals were played."""
    if season.outcome:
        raise NotNow(f"The finals of {season} were played; archive it.")
    _move(season, (Status.FROZEN,), Status.OPEN)


def start_finals(season: Season, prizes: int) -> None:
    """Let the contenders play on with frozen code, and with τ = 0 in the ledger."""
    if prizes < 1:
        raise NotNow("Finals need at least one prize place.")
    if selectors.open_games(season):
        raise NotNow(f"{season} has open games; freeze it and wait for them.")
    with transaction.atomic():
        _move(season, (Status.OPEN, Status.FROZEN), Status.FINALS)
        now = Parameters(**season.parameters)
        started = [[bot, games] for bot, _, games in selectors.standings(season)]
        Season.objects.filter(pk=season.pk).update(
            prizes=prizes, outcome={"games_before": started}
        )
        change_parameters(season, replace(now, tau=0.0))
    season.refresh_from_db()


def change_parameters(season: Season, new: Parameters) -> None:
    """Put other constants in force from now on, by an entry of the ledger."""
    season.refresh_from_db()
    inputs = {"parameters": asdict(new)}
    ledger_writer.append(season, lambda page: page.add(Entry.Kind.PARAMETERS, inputs))


def finalists(season: Season) -> set[int]:
    """Return the bots that still play in the finals, by the published rule."""
    rows = selectors.standings(season)
    least = max(int(seats) for seats in season.ladder.tables) + 1
    board = [skill for _, skill, _ in rows]
    before = dict(season.outcome.get("games_before", ()))
    return {
        rows[place][0]
        for place in stopping_rule.contenders(board, season.prizes, least=least)
        if rows[place][2] - before.get(rows[place][0], 0) < stopping_rule.MOST_GAMES
    }


def settle(season: Season) -> bool:
    """End the finals if the prize places are settled; say whether they are over."""
    if season.status != Status.FINALS:
        return False
    doubt = _doubt(season)
    fewest = min(int(seats) for seats in season.ladder.tables)
    if doubt > stopping_rule.DOUBT and len(finalists(season)) >= fewest:
        return False
    freeze(season)
    return True


def archive(season: Season) -> None:
    """End a season for good: what has not begun is cancelled, the outcome kept."""
    rater.fold(season.pk)
    for game in Game.objects.filter(
        match__pairing__season=season, status="scheduled"
    ).values_list("pk", flat=True):
        games.cancel(game, "the season ended")
    if selectors.open_games(season) or rater.unrated(season.pk).exists():
        raise NotNow(f"Games of {season} still run or are not rated; try again soon.")
    doubt = _doubt(season)
    first = selectors.leaderboard(season)[: season.prizes]
    outcome = {
        "places": [row.bot.slug for row in first],
        "doubt": doubt,
        "settled": doubt <= stopping_rule.DOUBT,
        "finals": bool(season.outcome),
    }
    with transaction.atomic():
        _move(season, (Status.OPEN, Status.FROZEN, Status.FINALS), Status.ARCHIVED)
        Season.objects.filter(pk=season.pk).update(outcome=outcome, ended_at=Now())
    season.refresh_from_db()


def _doubt(season: Season) -> float:
    board = [skill for _, skill, _ in selectors.standings(season)]
    return stopping_rule.doubt(board, season.prizes)


def _move(season: Season, before: tuple[str, ...], after: str) -> None:
    moved = Season.objects.filter(pk=season.pk, status__in=before).update(status=after)
    if not moved:
        wanted = " or ".join(before)
        raise NotNow(f"{season} is not {wanted}, so it cannot become {after}.")
    season.refresh_from_db()
