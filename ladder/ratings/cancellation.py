"""Cancel scheduled games whose bots may no longer play.

The dispatcher does this once a second. So it does not matter who changed the status of
a bot, an upload or an account, and whether that process was killed before it could
cancel the games itself.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet

from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import belongs_to_somebody
from ladder.games import services as games
from ladder.games.models import GameStatus, Match, Seat
from ladder.ratings.models import Membership, Season

LEFT = (Bot.Status.WITHDRAWN, Bot.Status.BANNED)


def cancel_unplayable() -> int:
    """Cancel the games of `unplayable_seats` and return how many. Idempotent."""
    seats = unplayable_seats().select_related("submission__bot__owner")
    seats = seats.defer("submission__log", "submission__report")
    return sum(games.cancel(seat.game_id, _note(seat)) for seat in seats)


def unplayable_seats() -> QuerySet[Seat]:
    """Return the seats of scheduled games whose bot may no longer play.

    It was withdrawn or banned, or it does not play on the ladder that rates the game,
    or the account of its owner is deactivated or deleted, or another upload has
    replaced the one in the seat. Exceptions: a tournament keeps its entrants to the
    end, finals keep their versions, and a comparison has a replaced version by its
    nature.
    """
    seats = Seat.objects.filter(game__status=GameStatus.SCHEDULED).exclude(
        game__match__kind=Match.Kind.TOURNAMENT
    )
    replaced = (
        Q(submission__status=Submission.Status.RETIRED)
        & ~Q(game__match__pairing__season__status=Season.Status.FINALS)
        & ~Q(game__match__kind=Match.Kind.COMPARISON)
    )
    members = Membership.objects.filter(
        bot=OuterRef("bot"), ladder__slug=OuterRef("game__match__ladder")
    )
    off_the_ladder = ~Q(game__match__ladder="") & ~Exists(
        members.filter(status=Membership.Status.ACTIVE)
    )
    return seats.filter(
        Q(submission__bot__status__in=LEFT)
        | off_the_ladder
        | ~belongs_to_somebody("submission__bot__")
        | replaced
    )


def _note(seat: Seat) -> str:
    bot = seat.submission.bot
    if bot.status in LEFT:
        return f"{bot.slug} is {bot.status}"
    if seat.submission.status == Submission.Status.RETIRED:
        return "another version plays now"
    if not (bot.house or (bot.owner and bot.owner.is_active)):
        return f"nobody answers for {bot.slug} any more"
    return f"{bot.slug} is not on the ladder"
