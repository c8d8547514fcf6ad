"""Operators' actions on seasons and ratings. Each one adds an entry to the audit log.

An action that changes ratings also appends to the ledger: a merge has its own kind of
entry. Actions on bots and games are in the package `moderation`.
"""

from collections.abc import Iterator

from django.db import transaction

from engine import replay, replay_format
from ladder.bots.models import Bot
from ladder.games import replays
from ladder.games.models import Game, GameStatus
from ladder.games.services import NotNow
from ladder.moderation.audit import Operator
from ladder.moderation.bots import retire
from ladder.moderation.models import AuditEntry
from ladder.ratings import ledger_writer, rater, seasons
from ladder.ratings.core.ledger import EntryKind
from ladder.ratings.models import Ladder, Season

Kind = AuditEntry.Kind


@transaction.atomic
def move_season(
    operator: Operator, season: Season, kind: AuditEntry.Kind
) -> AuditEntry:
    """Freeze, reopen or archive a season, or start its finals with its prizes."""
    match kind:
        case Kind.FREEZE:
            seasons.freeze(season)
        case Kind.REOPEN:
            seasons.reopen(season)
        case Kind.FINALS:
            seasons.start_finals(season, season.prizes)
        case Kind.ARCHIVE:
            seasons.archive(season)
        case _:
            raise NotNow(f"{kind} is not an action on a season.")
    return operator.record(kind, f"season {season}")


@transaction.atomic
def start(operator: Operator, ladder: Ladder) -> AuditEntry:
    """Start a ladder's next season."""
    return operator.record(Kind.START, f"season {seasons.start_season(ladder)}")


@transaction.atomic
def merge(operator: Operator, gone: Bot, kept: Bot) -> AuditEntry:
    """Merge the bot `gone` into the bot `kept`, if one person has entered both.

    1. Retire `gone`, which cancels its scheduled games.
    2. Refuse if a game of `gone` runs or is not rated yet. Finished games must be
       rated for the bot that played them, before the merge.
    3. Append a merge entry to each unarchived season in which both bots are rated. The
       better known skill counts for both.

    The games of `gone` keep its name.
    """
    if gone.pk == kept.pk:
        raise NotNow("A bot cannot be merged into itself. Name two different bots.")
    running = Game.objects.filter(
        status=GameStatus.RUNNING, seats__submission__bot=gone
    ).exists()
    retire(gone, f"merged into {kept.slug}")
    unarchived = Season.objects.exclude(status=Season.Status.ARCHIVED).filter(
        ratings__bot=gone
    )
    if running or any(rater.unrated(season.pk).exists() for season in unarchived):
        raise NotNow(
            f"Games of {gone.slug} still run or wait to be rated. Try again soon."
        )
    inputs = {"gone": gone.pk, "kept": kept.pk}
    merged_seasons = []
    for season in unarchived.filter(pk__in=kept.ratings.values("season")):
        ledger_writer.append(season, lambda batch: batch.add(EntryKind.MERGE, inputs))
        merged_seasons.append(season.pk)
    return operator.record(
        Kind.MERGE, f"bot {gone.slug}", into=kept.slug, seasons=merged_seasons
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
