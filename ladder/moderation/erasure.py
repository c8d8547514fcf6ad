"""Erases the data of a deleted account from games, game by game.

The account and the names of its bots are deleted at once (`bots.delete_account`). What
lies in thousands of rows follows in slices, by the rule of this module:

1. The packages, logs and reports of the bot's submissions.
2. The private logs of its seats, and the details of its forfeits.
3. Its name in the replays of its games. The moves of a replay stay, so it stays valid.

Nothing is erased while a game of the bot is open, because that game needs the package.
"""

import json

from django.db.models import QuerySet

from ladder.bots.models import Bot
from ladder.bots.retention import forget_package
from ladder.common.retention import RetentionRule
from ladder.games import replays
from ladder.games.models import OPEN, Game, Seat, SeatLog
from ladder.moderation.models import AuditEntry, Erasure

# A replay takes some milliseconds to compress, so a slice is small.
GAMES_PER_SLICE = 20


def rules() -> list[RetentionRule]:
    return [
        RetentionRule(
            "games of deleted accounts",
            "",
            Erasure.objects.count,
            lambda limit: len(_due(limit)),
            lambda limit: sum(_erase_slice(erasure) for erasure in _due(limit)[:1]),
        )
    ]


def begin(bot: Bot, slug: str) -> None:
    """Let the games of a bot be erased, whose slug was `slug` before its deletion.

    The audit log stays for ever, so the slug is replaced there at once.
    """
    Erasure.objects.get_or_create(bot=bot)
    AuditEntry.objects.filter(target=f"bot {slug}").update(target=f"bot {bot.slug}")
    for entry in AuditEntry.objects.filter(details__into=slug):
        details = entry.details | {"into": bot.slug}
        AuditEntry.objects.filter(pk=entry.pk).update(details=details)


def _due(limit: int) -> list[Erasure]:
    """Return the erasures of bots without an open game."""
    erasures = Erasure.objects.select_related("bot").order_by("pk")[:limit]
    return [erasure for erasure in erasures if not _plays(erasure.bot)]


def _plays(bot: Bot) -> bool:
    return Seat.objects.filter(submission__bot=bot, game__status__in=OPEN).exists()


def _erase_slice(erasure: Erasure) -> int:
    """Erase the next games of a bot, or end the erasure. Return how many it were."""
    bot = erasure.bot
    if not erasure.last_game:
        for submission in bot.submissions.all():
            forget_package(submission)
    games = list(_games_of(bot).filter(pk__gt=erasure.last_game)[:GAMES_PER_SLICE])
    for game in games:
        _erase(game, bot)
        Erasure.objects.filter(pk=erasure.pk).update(last_game=game.pk)
    if not games:
        erasure.delete()
        return 1
    return len(games)


def _games_of(bot: Bot) -> QuerySet[Game]:
    games = Seat.objects.filter(submission__bot=bot).values("game")
    return Game.objects.filter(pk__in=games).order_by("pk")


def _erase(game: Game, bot: Bot) -> None:
    seats = Seat.objects.filter(game=game, submission__bot=bot)
    numbers = list(seats.values_list("number", flat=True))
    SeatLog.objects.filter(attempt__game=game, number__in=numbers).delete()
    seats.exclude(fault_detail="").update(fault_detail="")
    if game.replay is None:
        return
    document = json.loads(replays.unpack(bytes(game.replay)))
    for number in numbers:
        document["players"][number] |= {"name": bot.name, "bot": bot.slug}
    Game.objects.filter(pk=game.pk).update(replay=replays.pack(document))
