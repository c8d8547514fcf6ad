"""What an operator does to bots, games, seasons and accounts; each leaves an `Action`.

Whatever moves ratings stands in the ledger, too: a void and a merge as entries of their
own, which the rater writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from engine import replay, replay_format
from ladder.bots.models import Bot, Submission
from ladder.games import replays, services as games
from ladder.games.models import Game, GameStatus
from ladder.games.services import NotNow
from ladder.ratings import pages, rater, seasons
from ladder.ratings.models import Action, Entry, Ladder, Season

Kind = Action.Kind


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants it (null: somebody at the console), and why."""

    by: User | None
    why: str

    def note(self, kind: Action.Kind, target: str, **details: object) -> Action:
        return Action.objects.create(
            kind=kind, by=self.by, target=target, why=self.why[:300], details=details
        )


@transaction.atomic
def set_aside(order: Order, bot: Bot, kind: Action.Kind) -> Action:
    """Bench, ban or withdraw a bot: what has not begun is cancelled, results stay."""
    status = {
        Kind.BENCH: Bot.Status.BENCHED,
        Kind.BAN: Bot.Status.BANNED,
        Kind.WITHDRAW: Bot.Status.WITHDRAWN,
    }[kind]
    Bot.objects.filter(pk=bot.pk).update(status=status)
    cancelled = _cancel(bot, f"{bot.slug} is {status}")
    return order.note(kind, f"bot {bot.slug}", cancelled=cancelled)


@transaction.atomic
def reinstate(order: Order, bot: Bot) -> Action:
    """Let a bot play again that was set aside."""
    Bot.objects.filter(pk=bot.pk).update(status=Bot.Status.ACTIVE)
    return order.note(Kind.REINSTATE, f"bot {bot.slug}")


@transaction.atomic
def void(order: Order, game: int, *, again: bool = True) -> Action:
    """Declare a finished game invalid; the rater takes it out of the ratings."""
    new = games.void(game, order.why, replay_again=again)
    return order.note(Kind.VOID, f"game {game}", replacement=new.pk if new else None)


@transaction.atomic
def rerun(order: Order, game: int) -> Action:
    """Play a game once more: a dead one as it is, a finished one by voiding it."""
    if games.revive(game):
        return order.note(Kind.RERUN, f"game {game}", revived=True)
    new = games.void(game, order.why)
    return order.note(Kind.RERUN, f"game {game}", replacement=new.pk if new else None)


@transaction.atomic
def move_season(order: Order, season: Season, kind: Action.Kind) -> Action:
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
    return order.note(kind, f"season {season}")


@transaction.atomic
def start(order: Order, ladder: Ladder) -> Action:
    """Start a ladder's next season."""
    return order.note(Kind.START, f"season {seasons.start_season(ladder)}")


@transaction.atomic
def merge(order: Order, gone: Bot, kept: Bot) -> Action:
    """Let one bot go on as the other, where a person had two of the same.

    In every season that lives the better known skill counts for both, by an entry of
    the ledger. The games of the bot that is gone keep its name.
    """
    if gone.pk == kept.pk:
        raise NotNow("A bot can't be merged into itself.")
    Bot.objects.filter(pk=gone.pk).update(status=Bot.Status.WITHDRAWN)
    # Finished games fold against the bot that played them, so before it goes.
    running = Game.objects.filter(
        status=GameStatus.RUNNING, seats__submission__bot=gone
    ).exists()
    _cancel(gone, f"merged into {kept.slug}")
    living = Season.objects.exclude(status=Season.Status.ARCHIVED).filter(
        ratings__bot=gone
    )
    if running or any(rater.unrated(season.pk).exists() for season in living):
        raise NotNow(f"Games of {gone.slug} still run or wait to be rated; try again.")
    inputs = {"gone": gone.pk, "kept": kept.pk}
    merged = []
    for season in living.filter(pk__in=kept.ratings.values("season")):
        pages.append(season, lambda page: page.add(Entry.Kind.MERGE, inputs))
        merged.append(season.pk)
    return order.note(Kind.MERGE, f"bot {gone.slug}", into=kept.slug, seasons=merged)


@transaction.atomic
def delete_account(order: Order, user: User) -> Action:
    """Delete a person: bots stop and lose their names, results and ratings stay."""
    bots = list(user.bots.all())
    for bot in bots:
        _cancel(bot, "its owner's account was deleted")
        name = f"deleted-{bot.pk}"
        Bot.objects.filter(pk=bot.pk).update(
            slug=name, name=name, status=Bot.Status.WITHDRAWN
        )
        Submission.objects.filter(bot=bot).update(log="")
    # The name itself is what had to go, so it isn't noted.
    target = f"account {user.pk}"
    user.delete()
    return order.note(Kind.DELETE_ACCOUNT, target, bots=[bot.pk for bot in bots])


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


def _cancel(bot: Bot, note: str) -> int:
    return sum(
        games.cancel_games_of(submission, note)
        for submission in bot.submissions.values_list("pk", flat=True)
    )
