"""The rater: decides what comes into the ledger, games in the order they are found.

Entries are numbered when they are folded, in the order in which games are found to be
finished. Two raters do no harm (see ``pages``): the second one stops.
"""

from typing import Any

import structlog
from django.db.models import Exists, OuterRef, QuerySet

from ladder.bots.models import Bot, Submission
from ladder.games import services as games
from ladder.games.models import OPEN, Game, GameStatus, Seat
from ladder.moderation.bots import bench, end_bench
from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import LedgerState
from ladder.ratings.ledger_writer import (
    LedgerBatch,
    LedgerConflict,
    append,
    lines,
    voided,
)
from ladder.ratings.models import Checkpoint, Entry, Pairing, Rating, Season

BATCH = 50
BENCH_AFTER = 5
"""Forfeits in a row, by the bot's own fault."""

log = structlog.get_logger()


def fold(season: int, limit: int = BATCH) -> int:
    """Fold what has finished or was voided since; return the number of entries.

    Safe to run at any time, any number of times; it never waits for a straggler.
    """
    try:
        _reopen_pairings(season)
        voids = _fold_voids(Season.objects.get(pk=season))
        return voids + _fold_games(Season.objects.get(pk=season), limit)
    except LedgerConflict:
        return 0


def _fold_games(season: Season, limit: int) -> int:
    due = list(unrated(season.pk).order_by("finished_at", "pk").defer("replay")[:limit])
    if not due:
        _close_pairings(season.pk)
        return 0
    table: dict[int, list[Seat]] = {game.pk: [] for game in due}
    seats = Seat.objects.filter(game__in=due).select_related("submission")
    for seat in seats.order_by("game", "number"):
        table[seat.game_id].append(seat)
    bots = {seat.submission.bot_id for seats in table.values() for seat in seats}

    def write(page: LedgerBatch) -> None:
        for game in due:
            inputs = {"seats": [_seat(seat) for seat in table[game.pk]]}
            page.add(Entry.Kind.GAME, inputs, game_id=game.pk)

    written = append(season, write, bots)
    _close_pairings(season.pk)
    _bench(season.pk, bots)
    return written


def _seat(seat: Seat) -> dict[str, Any]:
    return {
        "bot": seat.submission.bot_id,
        "submission": seat.submission_id,
        "rank": seat.rank,
        "fault": seat.fault,
    }


def unrated(season: int) -> QuerySet[Game]:
    """List finished games of open pairings that are not in the ledger yet."""
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=Entry.Kind.GAME)
    return Game.objects.filter(
        ~Exists(rated),
        status=GameStatus.FINISHED,
        match__pairing__season=season,
        match__pairing__open=True,
    )


def _reopen_pairings(season: int) -> None:
    """Open the pairings whose games are played again: dead ones revived, replaced."""
    Pairing.objects.filter(
        season=season, open=False, match__games__status__in=OPEN
    ).update(open=True)


def _close_pairings(season: int) -> None:
    """Close the pairings that have nothing left to play or to fold."""
    waiting = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=Entry.Kind.GAME)
    unfolded = Game.objects.filter(
        ~Exists(rated), match=OuterRef("match"), status=GameStatus.FINISHED
    )
    Pairing.objects.filter(
        ~Exists(waiting), ~Exists(unfolded), season=season, open=True
    ).update(open=False)


def _fold_voids(season: Season) -> int:
    """Fold a voided game that the ledger still counts; the next one comes next time."""
    noted = Entry.objects.filter(game=OuterRef("game"), kind=Entry.Kind.VOID)
    rated = (
        Entry.objects.filter(~Exists(noted), season=season, kind=Entry.Kind.GAME)
        .filter(game__status=GameStatus.VOIDED)
        .order_by("seq")
        .first()
    )
    if rated is None:
        return 0

    def write(page: LedgerBatch) -> None:
        game = rated.game_id or 0
        Checkpoint.objects.filter(season=season, seq__gte=rated.seq).delete()
        last = Checkpoint.objects.filter(season=season).order_by("-seq").first()
        start, seq = (LedgerState.load(last.state), last.seq) if last else (None, 0)
        rest = lines(season.pk, after=seq)
        page.void(game, ledger.fold(rest, voided(season.pk) | {game}, start))
        # Its replacement has to be folded, too.
        Pairing.objects.filter(match__games=game).update(open=True)

    return append(season, write)


def welcome(season: int) -> int:
    """Let bots with another ready submission join, or go on with it.

    A bot keeps its mean with a new version; an identical one changes nothing. The
    scheduled games of the one before are cancelled. Nobody joins a season that is
    frozen or in its finals. Returns the number of entries.
    """
    row = Season.objects.get(pk=season)
    if row.status != Season.Status.OPEN:
        return 0
    arrived = _arrived(season)
    if not arrived:
        return 0
    replaced: list[int] = []

    def write(page: LedgerBatch) -> None:
        for bot, submission in sorted(arrived.items()):
            old = page.state.bots.get(bot)
            inputs = {
                "bot": bot,
                "submission": submission.pk,
                "digest": submission.digest,
            }
            kind = Entry.Kind.NEW_VERSION if old else Entry.Kind.JOIN
            page.add(kind, inputs, bot_id=bot)
            if old:
                replaced.append(old.submission)

    try:
        written = append(row, write, arrived)
    except LedgerConflict:
        return 0
    for submission_id in replaced:
        games.cancel_games_of(submission_id, "another version plays now")
    end_bench(arrived)
    return written


def _arrived(season: int) -> dict[int, Submission]:
    """Return what each bot shall stand for, where that is not what it stands for.

    Mostly a newer upload, and after a rollback an older one.
    """
    stands = Rating.objects.filter(season=season, submission=OuterRef("pk"))
    ready = Submission.objects.filter(status=Submission.Status.READY)
    newer = ready.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    arrived = ready.filter(
        ~Exists(stands),
        ~Exists(newer),
        bot__status__in=[Bot.Status.ACTIVE, Bot.Status.BENCHED],
    )
    return {row.bot_id: row for row in arrived.only("pk", "bot", "number", "digest")}


def _bench(season: int, bots: set[int]) -> None:
    """Let no bot eat the queue that forfeits again and again."""
    failing = Rating.objects.filter(
        season=season, bot__in=bots, streak__gte=BENCH_AFTER, bot__house=False
    ).values_list("bot", flat=True)
    why = f"{BENCH_AFTER} forfeits in a row, by its own fault"
    for bot in bench(failing, why, season=season):
        log.warning("bot benched", season=season, bot=bot.slug)
