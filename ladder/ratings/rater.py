"""Decide what is appended to the ledger of a season: games, voids, joins, versions.

Entries are numbered when they are folded, and games are folded in the order in which
they are found to be finished. Several raters may run at the same time: the ledger's
writer lets only one of them append (see `ledger_writer.append`), and the others stop.
"""

from typing import Any

import structlog
from django.db.models import Exists, OuterRef, QuerySet

from ladder.bots.models import Bot, Submission
from ladder.games import services as games
from ladder.games.models import OPEN, Game, GameStatus, Seat
from ladder.moderation.bots import bench, end_bench
from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import EntryKind, LedgerState
from ladder.ratings.ledger_writer import (
    LedgerBatch,
    LedgerConflict,
    append,
    lines,
    voided_games,
)
from ladder.ratings.models import Checkpoint, Entry, Pairing, Rating, Season

BATCH_GAMES = 50
BENCH_AFTER = 5
"""A bot is benched after this many forfeits in a row by its own fault."""

log = structlog.get_logger()


def fold(season: int, limit: int = BATCH_GAMES) -> int:
    """Bring the ledger up to date with the games; return the number of new entries.

    1. Reopen the pairings whose games are played again.
    2. Fold one voided game that the ledger still counts, if there is any.
    3. Fold up to `limit` finished games, in the order in which they finished.
    4. Close the pairings that are complete, and bench bots that forfeit in a row.

    Idempotent: callers may run it at any time, and repeat it until it returns 0. It
    takes the games that are finished and never waits for one that still runs. If
    another rater appends at the same time, this one stops; steps that were already
    committed stay.
    """
    try:
        _reopen_pairings(season)
        voids = _fold_void(Season.objects.get(pk=season))
        return voids + _fold_games(Season.objects.get(pk=season), limit)
    except LedgerConflict:
        return 0


def _fold_games(season: Season, limit: int) -> int:
    rows = unrated(season.pk).order_by("finished_at", "pk").defer("replay")
    finished = list(rows[:limit])
    if not finished:
        _close_pairings(season.pk)
        return 0
    seats_of: dict[int, list[Seat]] = {game.pk: [] for game in finished}
    seats = Seat.objects.filter(game__in=finished).select_related("submission")
    for seat in seats.order_by("game", "number"):
        seats_of[seat.game_id].append(seat)
    bots = {seat.submission.bot_id for seats in seats_of.values() for seat in seats}

    def add_games(batch: LedgerBatch) -> None:
        for game in finished:
            inputs = {"seats": [_seat_inputs(seat) for seat in seats_of[game.pk]]}
            batch.add(EntryKind.GAME, inputs, game_id=game.pk)

    appended = append(season, add_games, bots)
    _close_pairings(season.pk)
    _bench_failing(season.pk, bots)
    return appended


def _seat_inputs(seat: Seat) -> dict[str, Any]:
    return {
        "bot": seat.submission.bot_id,
        "submission": seat.submission_id,
        "rank": seat.rank,
        "fault": seat.fault,
    }


def unrated(season: int) -> QuerySet[Game]:
    """Return the finished games of open pairings that are not in the ledger yet."""
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    return Game.objects.filter(
        ~Exists(rated),
        status=GameStatus.FINISHED,
        match__pairing__season=season,
        match__pairing__open=True,
    )


def _reopen_pairings(season: int) -> None:
    """Open the pairings that have a scheduled or running game again.

    A dead game may have been revived, or a voided game replaced.
    """
    Pairing.objects.filter(
        season=season, open=False, match__games__status__in=OPEN
    ).update(open=True)


def _close_pairings(season: int) -> None:
    """Close the pairings that have no game left to play or to fold."""
    waiting = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    unfolded = Game.objects.filter(
        ~Exists(rated), match=OuterRef("match"), status=GameStatus.FINISHED
    )
    Pairing.objects.filter(
        ~Exists(waiting), ~Exists(unfolded), season=season, open=True
    ).update(open=False)


def _fold_void(season: Season) -> int:
    """Fold one voided game that the ledger still counts; return 1, or 0 for none.

    1. Find the first rated game that is voided and has no void entry yet.
    2. Delete the checkpoints from that game on: they contain it.
    3. Fold all entries after the last remaining checkpoint, or all entries, without the
       voided games.
    4. Append a void entry with the difference to the present ratings.
    5. Open the game's pairing, so that its replacement is folded, too.

    The next voided game is folded by the next call.
    """
    voids = Entry.objects.filter(game=OuterRef("game"), kind=EntryKind.VOID)
    rated = (
        Entry.objects.filter(~Exists(voids), season=season, kind=EntryKind.GAME)
        .filter(game__status=GameStatus.VOIDED)
        .order_by("seq")
        .first()
    )
    if rated is None:
        return 0
    game = rated.game_id or 0

    def add_void(batch: LedgerBatch) -> None:
        checkpoints = Checkpoint.objects.filter(season=season)
        checkpoints.filter(seq__gte=rated.seq).delete()
        last = checkpoints.order_by("-seq").first()
        start = LedgerState.load(last.state) if last else None
        rest = lines(season.pk, after=last.seq if last else 0)
        voided = voided_games(season.pk) | {game}
        batch.add_void(game, ledger.fold(rest, voided, start))
        Pairing.objects.filter(match__games=game).update(open=True)

    return append(season, add_void)


def welcome(season: int) -> int:
    """Let bots join the season, or continue in it with another submission.

    1. Find the bots whose newest ready submission is not the one that is rated.
    2. Append a `join` entry for each new bot and a `new_version` entry for each other
       one. A new version keeps μ and widens σ; identical code changes neither.
    3. Cancel the scheduled games of the submissions that were replaced.
    4. End the bench of these bots.

    Nothing happens in a season that is not open: nobody joins a frozen season or
    finals. Return the number of new entries.
    """
    row = Season.objects.get(pk=season)
    if row.status != Season.Status.OPEN:
        return 0
    arrivals = _arrivals(season)
    if not arrivals:
        return 0
    replaced: list[int] = []

    def add_arrivals(batch: LedgerBatch) -> None:
        for bot, submission in sorted(arrivals.items()):
            old = batch.state.bots.get(bot)
            inputs = {
                "bot": bot,
                "submission": submission.pk,
                "digest": submission.digest,
            }
            kind = EntryKind.NEW_VERSION if old else EntryKind.JOIN
            batch.add(kind, inputs, bot_id=bot)
            if old:
                replaced.append(old.submission)

    try:
        appended = append(row, add_arrivals, arrivals)
    except LedgerConflict:
        return 0
    for submission_id in replaced:
        games.cancel_games_of(submission_id, "another version plays now")
    end_bench(arrivals)
    return appended


def _arrivals(season: int) -> dict[int, Submission]:
    """Return, by bot, the ready submissions that should play but do not play yet.

    Most are newer uploads; after a rollback it is an older one.
    """
    playing = Rating.objects.filter(season=season, submission=OuterRef("pk"))
    ready = Submission.objects.filter(status=Submission.Status.READY)
    newer = ready.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    arrivals = ready.filter(
        ~Exists(playing),
        ~Exists(newer),
        bot__status__in=[Bot.Status.ACTIVE, Bot.Status.BENCHED],
    )
    return {row.bot_id: row for row in arrivals.only("pk", "bot", "number", "digest")}


def _bench_failing(season: int, bots: set[int]) -> None:
    """Bench the bots that forfeited too often in a row; house bots are exempt."""
    failing = Rating.objects.filter(
        season=season, bot__in=bots, streak__gte=BENCH_AFTER, bot__house=False
    ).values_list("bot", flat=True)
    why = f"{BENCH_AFTER} forfeits in a row, by its own fault"
    for bot in bench(failing, why, season=season):
        log.warning("bot benched", season=season, bot=bot.slug)
