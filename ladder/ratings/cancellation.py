"""Cancel scheduled games whose bots may no longer play.

The dispatcher does this once a second. So it does not matter who changed the status of
a bot, an upload or an account, and whether that process was killed before it could
cancel the games itself.
"""

from django.db.models import Exists, OuterRef, Q

from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import belongs_to_somebody
from ladder.games import services as games
from ladder.games.models import GameStatus, Match, Seat
from ladder.ratings.models import Membership, Season

LEFT = (Bot.Status.WITHDRAWN, Bot.Status.BANNED)


def cancel_unplayable() -> int:
    """Cancel such games and return how many. Idempotent.

    A seat makes its game unplayable if its bot was withdrawn or banned, if the bot does
    not play on the ladder that rates the game, if the account of its owner is
    deactivated or deleted, or if another upload has replaced its own. Exceptions: a
    tournament keeps its entrants to the end, and finals their versions.
    """
    seats = Seat.objects.filter(game__status=GameStatus.SCHEDULED).exclude(
        game__match__kind=Match.Kind.TOURNAMENT
    )
    replaced = Q(submission__status=Submission.Status.RETIRED) & ~Q(
        game__match__pairing__season__status=Season.Status.FINALS
    )
    members = Membership.objects.filter(
        bot=OuterRef("bot"), ladder__slug=OuterRef("game__match__ladder")
    )
    off_the_ladder = ~Q(game__match__ladder="") & ~Exists(
        members.filter(status=Membership.Status.ACTIVE)
    )
    unplayable = seats.filter(
        Q(submission__bot__status__in=LEFT)
        | off_the_ladder
        | ~belongs_to_somebody("submission__bot__")
        | replaced
    ).select_related("submission__bot__owner")
    return sum(games.cancel(seat.game_id, _note(seat)) for seat in unplayable)


def _note(seat: Seat) -> str:
    bot = seat.submission.bot
    if bot.status in LEFT:
        return f"{bot.slug} is {bot.status}"
    if seat.submission.status == Submission.Status.RETIRED:
        return "another version plays now"
    if not (bot.house or (bot.owner and bot.owner.is_active)):
        return f"nobody answers for {bot.slug} any more"
    return f"{bot.slug} is not on the ladder"
