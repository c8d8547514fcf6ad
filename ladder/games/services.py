"""The life of a match outside its attempts: schedule, cancel, void.

Services write rows and send nothing: the dispatcher's tick finds what is due.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from ladder.bots.models import Submission
from ladder.common.errors import LadderError
from ladder.games import capabilities, sql
from ladder.games.models import Game, GameStatus, Match, Seat


class NotNow(LadderError):
    """The game is not in a state in which this can be done."""

    code, http_status = "wrong-state", 409


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """Under which terms a match is played: its own copy of everything.

    A match under embargo is shown to nobody until the embargo is lifted. `ladder` is
    the slug of the ladder that rates the match, and "" if none does; `why` says why the
    matchmaker made it.
    """

    ruleset: str
    switches: dict[str, Any]
    limits: dict[str, int]
    embargo: bool = False
    ladder: str = ""
    why: dict[str, Any] | None = None


@transaction.atomic
def schedule_match(
    kind: Match.Kind,
    terms: MatchTerms,
    seats: Sequence[Submission],
    *,
    duplicate: bool = False,
    priority: int = 0,
    queue: str = "play",
) -> Match:
    """Schedule a match of `seats`, in the order of the seats of its first game.

    With `duplicate` there is one game for each rotation of the seats, all with the
    same decks.
    """
    games = len(seats) if duplicate else 1
    match = Match.objects.create(
        kind=kind,
        ruleset=terms.ruleset,
        switches=terms.switches,
        limits=terms.limits,
        seats=len(seats),
        seed=secrets.token_hex(16),
        planned=games,
        embargo=terms.embargo,
        ladder=terms.ladder,
        why=terms.why,
    )
    needs = _needs(seats)
    for index in range(games):
        game = Game.objects.create(
            match=match, index=index, priority=priority, queue=queue, needs=needs
        )
        _seat(game, [*seats[index:], *seats[:index]])
    return match


def _needs(seats: Sequence[Submission]) -> str:
    bots = Submission.objects.filter(pk__in=[seat.pk for seat in seats])
    table = bots.values_list("language", "bot__house")
    return capabilities.needs(table, settings.TORRES_SANDBOX)


def _seat(game: Game, submissions: Sequence[Submission]) -> None:
    Seat.objects.bulk_create(
        Seat(game=game, number=number, submission=submission)
        for number, submission in enumerate(submissions)
    )


def cancel(game: int, note: str) -> bool:
    """Cancel a scheduled game; False if it is not scheduled (any more)."""
    return bool(
        Game.objects.filter(pk=game, status=GameStatus.SCHEDULED).update(
            status=GameStatus.CANCELLED, note=note[:200]
        )
    )


def cancel_games_of(submission: int, note: str) -> int:
    """Cancel the scheduled games of a submission; running ones go on and count.

    Not those of tournaments: there it is pinned, whatever was uploaded since.
    """
    waiting = Game.objects.filter(
        status=GameStatus.SCHEDULED, seats__submission=submission
    ).exclude(match__kind=Match.Kind.TOURNAMENT)
    return sum(cancel(game, note) for game in waiting.values_list("pk", flat=True))


def lift_embargo(matches: Sequence[int]) -> None:
    """Show these matches from now on, with all that belongs to them."""
    Match.objects.filter(pk__in=matches).update(embargo=False)


@transaction.atomic
def void(game: int, note: str, *, replay_again: bool = True) -> Game | None:
    """Declare a finished game invalid; schedule one replacement and return it.

    The replacement has the same match, seed and seats: nobody could prepare for the
    decks, because submissions never change.
    """
    voided = Game.objects.filter(pk=game, status=GameStatus.FINISHED).update(
        status=GameStatus.VOIDED, note=note[:200]
    )
    if not voided:
        raise NotNow(f"Game {game} is not finished, so it cannot be voided.")
    if not replay_again:
        return None
    old = Game.objects.defer("replay").get(pk=game)
    new = Game.objects.create(
        match_id=old.match_id,
        index=old.index,
        priority=old.priority,
        queue=old.queue,
        needs=old.needs,
        replaces=old,
    )
    _seat(new, [seat.submission for seat in old.seats.select_related("submission")])
    return new


def revive(game: int) -> bool:
    """Give a dead game its attempts again, after its cause was mended."""
    return bool(
        Game.objects.filter(pk=game, status=GameStatus.DEAD).update(
            status=GameStatus.SCHEDULED, failures=0, note="", fence=F("fence") + 1
        )
    )


def mark_sent(games: Sequence[int], queue: str) -> None:
    """Note that hints go out for these games now (before they do: a hint is cheap)."""
    sql.run(sql.mark_sent(games, queue))


def mark_unsent(games: Sequence[int]) -> None:
    """Note that the hints for these games did not get out."""
    Game.objects.filter(pk__in=games, status=GameStatus.SCHEDULED).update(sent_at=None)
