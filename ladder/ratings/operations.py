"""Operators' actions on seasons and ratings; each leaves an entry in the audit log.

Whatever moves ratings stands in the ledger, too: a merge as an entry of its own.
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
from ladder.ratings.models import Entry, Ladder, Season

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
            raise NotNow(f"{kind} is nothing that a season does.")
    return operator.record(kind, f"season {season}")


@transaction.atomic
def start(operator: Operator, ladder: Ladder) -> AuditEntry:
    """Start a ladder's next season."""
    return operator.record(Kind.START, f"season {seasons.start_season(ladder)}")


@transaction.atomic
def merge(operator: Operator, gone: Bot, kept: Bot) -> AuditEntry:
    """Let one bot go on as the other, where a person had two of the same.

    In every season that lives the better known skill counts for both, by an entry of
    the ledger. The games of the bot that is gone keep its name.
    """
    if gone.pk == kept.pk:
        raise NotNow("A bot can't be merged into itself.")
    # Finished games fold against the bot that played them, so before it goes.
    running = Game.objects.filter(
        status=GameStatus.RUNNING, seats__submission__bot=gone
    ).exists()
    retire(gone, f"merged into {kept.slug}")
    living = Season.objects.exclude(status=Season.Status.ARCHIVED).filter(
        ratings__bot=gone
    )
    if running or any(rater.unrated(season.pk).exists() for season in living):
        raise NotNow(f"Games of {gone.slug} still run or wait to be rated; try again.")
    inputs = {"gone": gone.pk, "kept": kept.pk}
    merged = []
    for season in living.filter(pk__in=kept.ratings.values("season")):
        ledger_writer.append(season, lambda page: page.add(Entry.Kind.MERGE, inputs))
        merged.append(season.pk)
    return operator.record(
        Kind.MERGE, f"bot {gone.slug}", into=kept.slug, seasons=merged
    )


def misjudged(season: Season, engine: str = "") -> Iterator[tuple[int, str]]:
    """Find rated games that the present engine would judge otherwise, and why.

    `engine` limits it to those that were played by that version. For after a mended
    rule: nothing changes by itself, see README.md.
    """
    rated = Game.objects.filter(
        match__pairing__season=season, status=GameStatus.FINISHED
    ).order_by("pk")
    if engine:
        rated = rated.filter(engine=engine)
    for game, stored in rated.values_list("pk", "replay").iterator(chunk_size=100):
        try:
            replay.verify(replay_format.load(replays.unpack(bytes(stored or b""))))
        except replay_format.InvalidReplay as fault:
            yield game, str(fault)
