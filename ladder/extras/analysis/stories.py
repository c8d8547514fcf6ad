"""Choose the finished games whose stories the service computes by itself. Reads only.

A game is worth a story if somebody cares about it: a game of a tournament, an upset, or
the loss of a bot that a person owns.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.extras.analysis import by_hand
from ladder.extras.analysis.models import Analysis
from ladder.extras.analysis.selectors import WHOLE_GAME
from ladder.games.models import Game, GameStatus, Match, Seat
from ladder.games.shared_deals import undecided
from ladder.ratings.models import Entry
from torres.rating.ledger import EntryKind
from torres.rating.upsets import MIN_UPSET, lead_of_losers

CONSIDERED = 100
"""This many of the latest games are compared, however many there are."""
RECENT = timedelta(days=7)
LONGEST_PAUSE_S = 365 * 24 * 3600.0


def budget_allows() -> bool:
    """True if no story is open, and the time since the last one has paid for it.

    A story that took 10 s of a processor is paid for after 200 s, at a share of 5 %.
    So the budget is in two rows, the last story and the last one of a game by hand, and
    holds after a restart too.
    """
    share = settings.TORRES_STORY_SHARE
    if not share or not settings.TORRES_ANALYSES_PER_DAY:
        return False
    if not by_hand.budget_allows(share):
        return False
    stories = Analysis.objects.filter(story=True)
    last = stories.defer("document").order_by("-created_at").first()
    if last is None or last.is_open:
        return last is None
    pause = timedelta(seconds=min(last.cpu_s / share, LONGEST_PAUSE_S))
    return stories.filter(pk=last.pk, created_at__lte=Now() - pause).exists()


def next_game() -> int | None:
    """Return the recent game that is most worth a story; None if there is none.

    Games of tournaments come first, then the greatest upsets, then the newest losses.
    """
    recent = Game.objects.filter(finished_at__gt=Now() - RECENT)
    latest = recent.order_by("-finished_at").values_list("pk", flat=True)[:CONSIDERED]
    known = Analysis.objects.filter(game=OuterRef("pk"), key=WHOLE_GAME)
    visible = Game.objects.filter(
        ~undecided(),
        ~Exists(known),
        pk__in=list(latest),
        status=GameStatus.FINISHED,
        match__embargo=False,
        replay__isnull=False,
    ).exclude(match__kind=Match.Kind.COMPARISON)
    kinds = dict(visible.values_list("pk", "match__kind"))
    upsets = _upsets(kinds)
    losses = _losses_of_people(kinds)
    worth = {
        pk: (kind == Match.Kind.TOURNAMENT, upsets.get(pk, 0.0), pk)
        for pk, kind in kinds.items()
        if kind == Match.Kind.TOURNAMENT or pk in upsets or pk in losses
    }
    return max(worth, key=lambda pk: worth[pk], default=None)


def _upsets(games: dict[int, str]) -> dict[int, float]:
    """Return by how much the winner was rated lower, by game."""
    rated = Entry.objects.filter(game__in=games, kind=EntryKind.GAME)
    leads = {
        game: lead_of_losers(inputs, changes)
        for game, inputs, changes in rated.values_list("game", "inputs", "changes")
    }
    return {game: lead for game, lead in leads.items() if lead >= MIN_UPSET}


def _losses_of_people(games: dict[int, str]) -> set[int]:
    """Return the games in which an active bot of a person did not win."""
    lost = Seat.objects.filter(
        game__in=games,
        rank__gt=1,
        bot__house=False,
        bot__status=Bot.Status.ACTIVE,
        bot__owner__is_active=True,
    )
    return set(lost.values_list("game", flat=True))
