"""The stories of games by hand: which game is next, and its result.

Nobody asks for them. They are paid from the same budget as the stories of other games,
and come before those, because a person has just played the game. The result is stored
with the game, and deleted with it.
"""

import json
import time
from datetime import timedelta

import structlog
from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from engine.turning_points import analyse
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from ladder.games import replays

RECENT = timedelta(days=1)
LEASE = timedelta(hours=1)
"""After this time without a result, its process was killed."""

log = structlog.get_logger()


def budget_allows(share: float) -> bool:
    """True if no story is being computed, and time has paid for the last one."""
    begun = PracticeGame.objects.filter(story_at__isnull=False)
    last = begun.order_by("-story_at").values_list("pk", "story_cpu_s").first()
    if last is None:
        return True
    pk, cpu_s = last
    pause = timedelta(seconds=cpu_s / share) if cpu_s else LEASE
    return begun.filter(pk=pk, story_at__lte=Now() - pause).exists()


def next_game() -> PracticeGame | None:
    """Return the latest finished game without a story; None if there is none.

    A game that began at a position has no replay that can be played again. One whose
    story could not be computed is not tried again.
    """
    killed = Q(story_cpu_s=0, story_at__lt=Now() - LEASE)
    games = _without_story().filter(Q(story_at__isnull=True) | killed)
    return games.only("replay", "story_at").order_by("-ended_at").first()


def may_follow(game: PracticeGame) -> bool:
    """True if the story of a game is being computed, or will be within a day."""
    share = settings.TORRES_STORY_SHARE and settings.TORRES_ANALYSES_PER_DAY
    return bool(share) and _without_story().filter(pk=game.pk, story_cpu_s=0).exists()


def _without_story() -> QuerySet[PracticeGame]:
    return PracticeGame.objects.filter(
        story__isnull=True,
        status=PracticeStatus.FINISHED,
        ended_at__gt=Now() - RECENT,
        replay__isnull=False,
        start="",
    )


def tell_next(games: int) -> bool:
    """Compute the next story; return False if there was none.

    `games` is the number of games that are played from each position. Of several
    processes that do it at once, only one computes it.
    """
    if (game := next_game()) is None:
        return False
    rows = PracticeGame.objects.filter(pk=game.pk, story__isnull=True)
    if not rows.filter(story_at=game.story_at).update(story_at=Now()):
        return False
    began = time.process_time()
    try:
        replay = json.loads(replays.unpack(bytes(game.replay or b"")))
        story = analyse(replay, games)
    except Exception:  # the one boundary: the next game may have a story
        log.exception("game by hand has no story", game=game.pk)
        story = None
    rows.update(story=story, story_cpu_s=time.process_time() - began)
    return True
