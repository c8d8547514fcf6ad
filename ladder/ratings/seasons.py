"""The life of a season: open, frozen, finals, archived, and then the next season.

open ⇄ frozen, open or frozen → finals → frozen → archived. A season may be archived
without finals. Each transition raises NotNow if the season is not in the right status.
"""

from dataclasses import asdict, replace

from django.db import connection, transaction
from django.db.models.functions import Now

from ladder.games import services as games
from ladder.games.models import Game, GameStatus
from ladder.games.services import NotNow
from ladder.ratings import corrections, facts, ledger_writer, rater, selectors
from ladder.ratings.models import Ladder, Season
from torres.rating import stopping_rule
from torres.rating.description import check_ladder, read_tables
from torres.rating.ledger import EntryKind
from torres.rating.stopping_rule import PrizeComparison
from torres.rating.trueskill import Parameters

Status = Season.Status
MAX_PRIZES = 1000


def start_season(ladder: Ladder) -> Season:
    """Start the next season. The season before it has to be archived.

    Raises NotNow, and BadLadder if the ladder cannot be played as it is described.
    """
    check_ladder(ladder.description())
    with transaction.atomic():
        last = ladder.seasons.order_by("-number").first()
        if last and last.status != Status.ARCHIVED:
            raise NotNow(f"{last} is {last.status}. Archive it first.")
        season = Season.objects.create(
            ladder=ladder, number=last.number + 1 if last else 1
        )
        inputs = {"parameters": asdict(parameters(ladder))}
        ledger_writer.append(
            season, lambda batch: batch.add(EntryKind.SEASON_START, inputs)
        )
        facts.record_status(season, Season.Status.OPEN, is_new=True)
    season.refresh_from_db()
    return season


def parameters(ladder: Ladder) -> Parameters:
    return Parameters(ladder.mu, ladder.sigma, ladder.beta, ladder.tau)


def freeze(season: Season) -> None:
    """Make no more matches. Scheduled games are still played and rated."""
    _move(season, (Status.OPEN, Status.FINALS), Status.FROZEN)


def reopen(season: Season) -> None:
    """Make matches again after a freeze, unless the finals were played."""
    if season.outcome:
        raise NotNow(f"The finals of {season} were played. Archive the season.")
    _move(season, (Status.FROZEN,), Status.OPEN)


def start_finals(season: Season, prizes: int) -> None:
    """Let the bots play on for `prizes` prize ranks, with frozen code.

    1. Refuse if the finals were played, or if a game is scheduled or running.
    2. Move the season to finals. From now on no bot joins or changes its code.
    3. Note how many games each bot has played before the finals.
    4. Append an entry that sets τ to 0, so that σ only shrinks.
    """
    if not 1 <= prizes <= MAX_PRIZES:
        raise NotNow(f"Finals have at least one prize rank, and at most {MAX_PRIZES}.")
    with transaction.atomic():
        _lock(season)
        if season.outcome:
            raise NotNow(f"The finals of {season} were played. Archive the season.")
        if selectors.open_games(season):
            raise NotNow(f"{season} has open games. Freeze it and wait for their end.")
        _move(season, (Status.OPEN, Status.FROZEN), Status.FINALS)
        games_before = [[row.bot, row.games] for row in selectors.ranked_bots(season)]
        Season.objects.filter(pk=season.pk).update(
            prizes=prizes, outcome={"games_before": games_before}
        )
        in_force = Parameters(**season.parameters)
        change_parameters(season, replace(in_force, tau=0.0))
    season.refresh_from_db()


def change_parameters(season: Season, parameters: Parameters) -> None:
    """Put other TrueSkill parameters in force, by an entry of the ledger."""
    season.refresh_from_db()
    inputs = {"parameters": asdict(parameters)}
    ledger_writer.append(season, lambda batch: batch.add(EntryKind.PARAMETERS, inputs))


def finalists(season: Season) -> set[int]:
    """Return the bots that still play in the finals, by `torres.rating.stopping_rule`.

    Those are the bots of undecided comparisons, and others that they need to fill the
    smallest match, because the bots of one owner never meet. A bot that may not play,
    or that has played enough games in the finals, stops. Without any bot of an
    undecided comparison the finals are over, and nobody plays.
    """
    board = selectors.ranked_bots(season)
    games_before = dict(season.outcome.get("games_before", ()))
    eligible = [row.profile for row in selectors.eligible_bots(season)]
    owner_of = {
        profile.bot: profile.owner
        for profile in eligible
        if profile.games - games_before.get(profile.bot, 0)
        < stopping_rule.MAX_FINALS_GAMES
    }
    comparisons = _comparisons(season)
    fewest = min(int(seats) for seats in read_tables(season.ladder.tables))
    for at_least in range(len(board) + 1):
        chosen = stopping_rule.undecided_indices(comparisons, at_least=at_least)
        playing = {board[index].bot for index in chosen} & owner_of.keys()
        if at_least == 0 and not playing:
            break
        if len({owner_of[bot] for bot in playing}) >= fewest:
            return playing
    return set()


def settle(season: Season) -> bool:
    """Freeze the season if its finals are decided; return whether they are over.

    Finals are over if the order of the prize ranks is sure enough, or if too few bots
    may play on (`finalists`).
    """
    if season.status != Status.FINALS:
        return False
    error = stopping_rule.order_error(_comparisons(season))
    if error > stopping_rule.MAX_ORDER_ERROR and finalists(season):
        return False
    try:
        freeze(season)
    except NotNow:
        return False  # another process was first
    return True


def close(season: Season) -> int:
    """Prepare the end of a season: freeze it, and cancel the games that wait.

    Return how many games were cancelled. Idempotent.
    """
    with transaction.atomic():
        _lock(season)
        if season.status in (Status.OPEN, Status.FINALS):
            freeze(season)
        scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
        waiting = scheduled.filter(match__pairing__season=season)
        return games.cancel_all(
            list(waiting.values_list("pk", flat=True)), "the season ended"
        )


def archive(season: Season) -> None:
    """End a season for good. Call `close` and `rater.fold` first.

    1. Lock the season. Refuse if a game is open, not rated, or voided but still
       counted, and say what is left.
    2. Store the order of the prize ranks as the season's outcome.
    """
    with transaction.atomic():
        _lock(season)
        if remaining := _remaining_work(season):
            raise NotNow(
                f"{season} is frozen and cannot be archived yet: {remaining}. No new"
                " game begins; archive it again in a minute."
            )
        comparisons = _comparisons(season)
        order_error = stopping_rule.order_error(comparisons)
        best_first = selectors.ratings_best_first(season)
        outcome = {
            "places": [rating.bot.slug for rating in best_first[: season.prizes]],
            "doubt": order_error,
            "settled": order_error <= stopping_rule.MAX_ORDER_ERROR,
            "equal": [
                [best_first[k].bot.slug for k in (each.upper, each.lower)]
                for each in comparisons
                if each.equal
            ],
            "finals": bool(season.outcome),
        }
        _move(season, (Status.OPEN, Status.FROZEN, Status.FINALS), Status.ARCHIVED)
        Season.objects.filter(pk=season.pk).update(outcome=outcome, ended_at=Now())
    season.refresh_from_db()


def _remaining_work(season: Season) -> str:
    """Return what keeps a season from being archived, as words; "" for nothing."""
    counts = {
        "games that are scheduled or running": selectors.open_games(season),
        "finished games that are not rated yet": rater.unrated(season.pk).count(),
        "voided games that are still counted": corrections.count_pending(season.pk),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _comparisons(season: Season) -> list[PrizeComparison]:
    board = [row.skill for row in selectors.ranked_bots(season)]
    beta = Parameters(**season.parameters).beta
    return stopping_rule.prize_comparisons(board, season.prizes, beta)


def _lock(season: Season) -> None:
    """Lock the season's row until the transaction ends, and read it again.

    It waits for matches that are being made (`locked_status`), so that they are seen.
    """
    Season.objects.select_for_update().get(pk=season.pk)
    season.refresh_from_db()


def locked_status(season: int) -> str:
    """Return a season's status, which cannot change until the transaction ends.

    On PostgreSQL the lock is shared: it keeps others from `_lock`, but neither from
    making matches nor from extending the ledger. Django offers no such lock. SQLite has
    one writer at a time.
    """
    if connection.vendor == "sqlite":
        return Season.objects.values_list("status", flat=True).get(pk=season)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT status FROM ratings_season WHERE id = %s FOR KEY SHARE", [season]
        )
        return str(cursor.fetchone()[0])


def _move(season: Season, before: tuple[str, ...], after: str) -> None:
    """Change the status, if it is one of `before`; raise NotNow otherwise."""
    with transaction.atomic():
        _lock(season)
        if season.status not in before:
            expected = " or ".join(before)
            raise NotNow(f"{season} is not {expected}, so it cannot become {after}.")
        Season.objects.filter(pk=season.pk).update(status=after)
        facts.record_status(season, after)
    season.refresh_from_db()
