"""Compare a season's ledger with its games: each finished game is rated exactly once.

The ledger alone cannot show that a game was never folded. Each function here reads the
whole season with a few statements, however many games it has.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from ladder.games.models import Game, GameStatus
from ladder.ratings.models import Entry, Season
from torres.common.pause import pause
from torres.rating.ledger import EntryKind

SHOWN_GAMES = 5
POLL_INTERVAL_S = 0.5
WITH_RESULT = (GameStatus.FINISHED, GameStatus.VOIDED)

_WAIT = "If the service runs, its rater does this within a minute or two."


@dataclass(frozen=True, slots=True)
class GameProblem:
    """A kind of disagreement between games and ledger, and the advice for it.

    `find` selects the ids of the games; `advice` is for operators. The rater will deal
    with the games by itself if the problem `may_pass`.
    """

    problem: str
    advice: str
    find: Callable[[Season], QuerySet[Any, Any]]
    may_pass: bool = False

    def games(self, season: Season) -> list[int]:
        return list(self.find(season))


def _rated(kind: EntryKind) -> Exists:
    return Exists(Entry.objects.filter(game=OuterRef("pk"), kind=kind))


def _games(season: Season) -> QuerySet[Game]:
    return Game.objects.filter(match__pairing__season=season).order_by("pk")


def never_rated(season: Season) -> QuerySet[Any, Any]:
    finished = _games(season).filter(status=GameStatus.FINISHED)
    return finished.filter(~_rated(EntryKind.GAME)).values_list("pk", flat=True)


def _never_taken_out(season: Season) -> QuerySet[Any, Any]:
    voided = _games(season).filter(status=GameStatus.VOIDED)
    return voided.filter(_rated(EntryKind.GAME), ~_rated(EntryKind.VOID)).values_list(
        "pk", flat=True
    )


def _rated_twice(season: Season) -> QuerySet[Any, Any]:
    rated = Entry.objects.filter(season=season, kind=EntryKind.GAME)
    counts = rated.order_by().values("game").annotate(n=Count("pk"))
    return counts.filter(n__gt=1).values_list("game", flat=True)


def _without_result(season: Season) -> QuerySet[Any, Any]:
    entries = Entry.objects.filter(season=season, kind=EntryKind.GAME)
    wrong = entries.exclude(game__status__in=WITH_RESULT)
    return wrong.order_by("game").values_list("game", flat=True)


def _taken_out_wrongly(season: Season) -> QuerySet[Any, Any]:
    entries = Entry.objects.filter(season=season, kind=EntryKind.VOID)
    wrong = entries.exclude(game__status=GameStatus.VOIDED)
    return wrong.order_by("game").values_list("game", flat=True)


def _foreign(season: Season) -> QuerySet[Any, Any]:
    entries = Entry.objects.filter(season=season, kind=EntryKind.GAME)
    wrong = entries.exclude(game__match__pairing__season=season)
    return wrong.order_by("game").values_list("game", flat=True)


PROBLEMS = (
    GameProblem(
        "finished, but never rated",
        f"{_WAIT} Otherwise run manage.py rebuild_ratings once: it lets the rater find"
        " them again. In an archived season they can no longer be rated: report it.",
        never_rated,
        may_pass=True,
    ),
    GameProblem(
        "voided, but still counted",
        f"{_WAIT} Otherwise run manage.py run_job fold_voids.",
        _never_taken_out,
        may_pass=True,
    ),
    GameProblem(
        "rated more than once",
        "A constraint of the database is missing. Restore the last backup.",
        _rated_twice,
    ),
    GameProblem(
        "rated, but without a result",
        "The rows of games were changed by hand. Restore the last backup.",
        _without_result,
    ),
    GameProblem(
        "taken out of the ratings, but not voided",
        "The rows of games were changed by hand. Restore the last backup.",
        _taken_out_wrongly,
    ),
    GameProblem(
        "rated by a season to which they do not belong",
        "The rows of pairings were changed by hand. Restore the last backup.",
        _foreign,
    ),
)


def complaints(season: Season, patience_s: float) -> list[str]:
    """Return a sentence for each problem.

    While the service runs, some games always wait for the rater. So a problem that may
    pass is reported only for the games that still have it after `patience_s` seconds.
    """
    sentences = []
    deadline = time.monotonic() + patience_s
    for kind in PROBLEMS:
        games = kind.games(season)
        while games and kind.may_pass and time.monotonic() < deadline:
            pause(POLL_INTERVAL_S)
            games = sorted(set(games) & set(kind.games(season)))
        if games:
            shown = ", ".join(str(game) for game in games[:SHOWN_GAMES])
            more = ", …" if len(games) > SHOWN_GAMES else ""
            sentences.append(
                f"{len(games)} games are {kind.problem} ({shown}{more}). {kind.advice}"
            )
    return sentences
