"""The leaves of matches and games in the public log.

Games of a comparison concern the owner of the bots only, so they are not logged. The
leaves of a match under embargo are sealed until the embargo is lifted.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from ladder.bots.models import Submission
from ladder.games.models import Attempt, Game, GameStatus, Match
from ladder.public_log import outbox
from ladder.public_log.outbox import NewLeaf
from torres.tlog.leaves import LeafKind, canonical, replay_digest


def is_logged(kind: str) -> bool:
    """True if matches of this kind are in the public log."""
    return kind != Match.Kind.COMPARISON


def seal_of(match: Match) -> int | None:
    """Return what seals the leaves of a match; None if they are public."""
    return match.pk if match.embargo else None


def plan(
    match: Match,
    switches: dict[str, Any],
    seatings: Sequence[Sequence[Submission]],
) -> NewLeaf:
    """Return the leaf of a match that is planned now.

    `switches` are those that differ from the ruleset. `seatings` has the submissions of
    each game in the order of their seats.
    """
    seated = {seat.pk: seat.digest for seating in seatings for seat in seating}
    data: dict[str, Any] = {
        "match": match.pk,
        "kind": match.kind,
        "ladder": match.ladder,
        "ruleset": match.ruleset,
        "switches": switches,
        "submissions": seated,
        "games": [[seat.pk for seat in seating] for seating in seatings],
        "why": match.why,
        "hours": settings.TORRES_MATCH_HOURS,
    }
    if match.deal_of_id is not None:
        data["deal_of"] = match.deal_of_id
    return NewLeaf(LeafKind.MATCH_PLANNED, match.pk, data, seal_of(match))


def finished(game: Game, replay: dict[str, Any]) -> str:
    """Return the data of the leaf of a game that was played to its end, as JSON."""
    match = game.match
    data: dict[str, Any] = {
        "game": game.pk,
        "match": match.pk,
        "index": game.index,
        "attempt": game.fence,
        "replay": replay_digest(replay),
        **replay["result"],
    }
    if match.batch and match.plan_hash and match.deal_root:
        data["deal"] = {
            "batch": match.batch_id,
            "commitment": match.batch.commitment,
            "plan": bytes(match.plan_hash).hex(),
            "size": match.deal_size,
            "root": bytes(match.deal_root).hex(),
        }
        if match.own_plan:
            data["deal"]["match_plan"] = bytes(match.own_plan).hex()
    return canonical(data)


def record_ends(games: QuerySet[Game], outcome: GameStatus) -> None:
    """Log that these games, which the caller changes, end without a result.

    The note about it is not logged, because people write it, and a leaf stays for ever.
    """
    rows = games.exclude(match__kind=Match.Kind.COMPARISON).select_related("match")
    outbox.record_all(
        NewLeaf(
            LeafKind.GAME_ENDED,
            game.pk,
            {"game": game.pk, "match": game.match_id, "outcome": outcome},
            seal_of(game.match),
        )
        for game in rows.defer("replay")
    )


def record_attempt(game: int, fence: int, outcome: Attempt.Outcome) -> None:
    """Log that an attempt ended without a result. Its reason may name a host."""
    match = Match.objects.get(games=game)
    if is_logged(match.kind):
        data = {"game": game, "match": match.pk, "attempt": fence, "outcome": outcome}
        outbox.record(LeafKind.ATTEMPT_ENDED, game, data, seal=seal_of(match))


def record_void(game: int, replacement: int | None) -> None:
    """Log that a finished game counts no more. The note about it is not logged."""
    match = Match.objects.get(games=game)
    if is_logged(match.kind):
        data = {"game": game, "match": match.pk, "replacement": replacement}
        outbox.record(LeafKind.GAME_VOIDED, game, data, seal=seal_of(match))
