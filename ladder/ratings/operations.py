"""Operators' actions on seasons, games and ratings, each with its audit entry.

An action that changes ratings also appends to the ledger: a merge has its own kind of
entry. Actions on bots are in the package `moderation`.
"""

from collections.abc import Iterator

from django.db import transaction

from engine import replay, replay_format
from ladder.bots.models import Bot
from ladder.games import replays
from ladder.games.models import OPEN, Game, GameStatus, Seat
from ladder.games.services import NotNow
from ladder.moderation.audit import Operator
from ladder.moderation.bots import retire
from ladder.moderation.models import AuditEntry
from ladder.ratings import ledger_writer, rater, seasons, voids
from ladder.ratings.models import Ladder, Season
from torres.rating.ledger import EntryKind

Kind = AuditEntry.Kind


def move_season(
    operator: Operator, season: Season, kind: AuditEntry.Kind
) -> AuditEntry:
    """Freeze, reopen or archive a season, or start its finals with its prizes."""
    if kind == Kind.ARCHIVE:
        return _archive(operator, season)
    with transaction.atomic():
        match kind:
            case Kind.FREEZE:
                seasons.freeze(season)
            case Kind.REOPEN:
                seasons.reopen(season)
            case Kind.FINALS:
                seasons.start_finals(season, season.prizes)
            case _:
                raise NotNow(f"{kind} is not an action on a season.")
        return operator.record(kind, f"season {season}")


def _archive(operator: Operator, season: Season) -> AuditEntry:
    """Archive a season.

    Its waiting games are cancelled first, in a transaction of its own: if the archive
    is refused because a game still runs, the next call finds less to do.
    """
    with transaction.atomic():
        before = season.status
        cancelled = seasons.close(season)
        if cancelled or season.status != before:
            operator.record(Kind.FREEZE, f"season {season}", cancelled=cancelled)
    while rater.fold(season.pk):
        pass
    with transaction.atomic():
        seasons.archive(season)
        return operator.record(Kind.ARCHIVE, f"season {season}")


@transaction.atomic
def start(operator: Operator, ladder: Ladder) -> AuditEntry:
    """Start a ladder's next season."""
    return operator.record(Kind.START, f"season {seasons.start_season(ladder)}")


@transaction.atomic
def void(operator: Operator, game: int, *, again: bool = True) -> AuditEntry:
    """Declare a finished game invalid. The rater takes it out of the ratings.

    With `again` the game is played once more with the same seed and seats.
    """
    new = voids.void(game, operator.why, replay_again=again)
    replacement = new.pk if new else None
    return operator.record(Kind.VOID, f"game {game}", replacement=replacement)


@transaction.atomic
def rerun(operator: Operator, game: int) -> AuditEntry:
    """Play a game once more.

    A dead game is scheduled again. A finished game is voided and gets a replacement.
    """
    if voids.revive(game):
        return operator.record(Kind.RERUN, f"game {game}", revived=True)
    new = voids.void(game, operator.why)
    replacement = new.pk if new else None
    return operator.record(Kind.RERUN, f"game {game}", replacement=replacement)


def merge(operator: Operator, gone: Bot, into: Bot) -> AuditEntry:
    """Merge the bot `gone` into the bot `into`, if one person has entered both.

    1. Withdraw `gone`, which cancels its scheduled games. This stays if step 2 refuses,
       so that a second call succeeds when the last games have ended.
    2. Refuse if a game of `gone` runs or is not rated yet. Finished games must be
       rated for the bot that played them, before the merge.
    3. Append a merge entry to each unarchived season in which both bots are rated. The
       better known skill counts for both.

    The games of `gone` keep its name.
    """
    if gone.pk == into.pk:
        raise NotNow("A bot cannot be merged into itself. Name two different bots.")
    with transaction.atomic():
        cancelled = retire(gone, f"merged into {into.slug}")
        gone.refresh_from_db()
        operator.record(Kind.WITHDRAW, f"bot {gone.slug}", cancelled=cancelled)
    unarchived = Season.objects.exclude(status=Season.Status.ARCHIVED).filter(
        ratings__bot=gone
    )
    for season in unarchived:
        rater.fold(season.pk)
    inputs = {"gone": gone.pk, "kept": into.pk}
    merged_seasons = []
    with transaction.atomic():
        for season in unarchived.select_for_update(of=("self",)):
            _refuse_unrated_games(season, gone)
            if into.ratings.filter(season=season).exists():
                ledger_writer.append(
                    season, lambda batch: batch.add(EntryKind.MERGE, inputs)
                )
                merged_seasons.append(season.pk)
        return operator.record(
            Kind.MERGE, f"bot {gone.slug}", into=into.slug, seasons=merged_seasons
        )


def _refuse_unrated_games(season: Season, bot: Bot) -> None:
    """Raise NotNow if games of a bot run in this season, or are not rated yet."""
    own = Seat.objects.filter(submission__bot=bot)
    running = own.filter(
        game__status__in=OPEN, game__match__pairing__season=season
    ).count()
    unrated = rater.unrated(season.pk).filter(seats__in=own).count()
    if running or unrated:
        raise NotNow(
            f"{bot.slug} is withdrawn, but {running} of its games still run and"
            f" {unrated} wait to be rated. Merge it again in a minute."
        )


def misjudged(season: Season, engine: str = "") -> Iterator[tuple[int, str]]:
    """Yield the rated games that the present engine would judge differently, and why.

    `engine` limits the search to games that were played by that version of the engine.
    Use it after a rule of the engine was fixed: nothing changes by itself, see "After a
    fix of the engine" in this package's README.md.
    """
    rated = Game.objects.filter(
        match__pairing__season=season, status=GameStatus.FINISHED
    ).order_by("pk")
    if engine:
        rated = rated.filter(engine=engine)
    for game, data in rated.values_list("pk", "replay").iterator(chunk_size=100):
        try:
            replay.verify(replay_format.load(replays.unpack(bytes(data or b""))))
        except replay_format.InvalidReplay as fault:
            yield game, str(fault)
