"""The facts about matches and games: their events and leaves of the log.

A match under embargo does not exist for anybody. So its games have no events, and its
leaves are sealed until the embargo is lifted. The matches of a comparison concern the
owner of the bots only, so their events are private, and they are not logged.

Notes and reasons are never logged, because people write them or they name hosts, and a
leaf stays for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from engine.documents import Replay
from ladder.bots.models import Submission
from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, NewLeaf, fact, record, record_all
from ladder.games import sql
from ladder.games.models import Attempt, Game, GameStatus, Match
from torres.common.json_object import JsonObject
from torres.tlog import decks
from torres.tlog.leaves import LeafKind, canonical, replay_digest


def is_logged(kind: str) -> bool:
    """True if matches of this kind are in the public log."""
    return kind != Match.Kind.COMPARISON


def seal_of(match: Match) -> int | None:
    """Return what seals the leaves of a match; None if they are public."""
    return match.pk if match.embargo else None


def plan(
    match: Match,
    switches: Mapping[str, object],
    seatings: Sequence[Sequence[Submission]],
) -> NewLeaf:
    """Return the leaf of a match that is planned now.

    `switches` are those that differ from the ruleset. `seatings` has the submissions of
    each game in the order of their seats.
    """
    seated = {seat.pk: seat.digest for seating in seatings for seat in seating}
    data: dict[str, object] = {
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
    if not match.seed:
        data["decks"] = {"rule": decks.RULE}  # the sequencer adds the batch
    return NewLeaf(LeafKind.MATCH_PLANNED, match.pk, data, seal_of(match))


def finished_leaf(game: Game, replay: Replay) -> str:
    """Return the data of the leaf of a game that was played to its end, as JSON."""
    match = game.match
    data: dict[str, object] = {
        "game": game.pk,
        "match": match.pk,
        "index": game.index,
        "attempt": game.fence,
        "replay": replay_digest(replay),
        **replay["result"],
    }
    if match.batch and match.plan_hash and match.deal_root:
        deal = {
            "batch": match.batch_id,
            "commitment": match.batch.commitment,
            "plan": bytes(match.plan_hash).hex(),
            "size": match.deal_size,
            "root": bytes(match.deal_root).hex(),
        }
        if match.deal_entropy:
            deal["entropy"] = bytes(match.deal_entropy).hex()
        if match.own_plan:
            deal["match_plan"] = bytes(match.own_plan).hex()
        data["deal"] = deal
    return canonical(data)


def finished(
    game: int, reason: str, columns: dict[str, list[Any]], leaf: str
) -> sql.Statement:
    """Return the statement that records a game that finishes now.

    `columns` has score, rank and fault of the seats, in their order. `leaf` is the text
    that `finished_leaf` returned.
    """
    seats = sql.seated_bots(game)
    results = zip(columns["score"], columns["rank"], columns["fault"], strict=True)
    told = {
        "reason": reason,
        "seats": [
            {
                "seat": seat.number,
                "bot": seat.bot,
                "submission": seat.submission,
                "score": score,
                "rank": rank,
                "forfeit": fault or None,
            }
            for seat, (score, rank, fault) in zip(seats, results, strict=True)
        ],
    }
    row = fact(_event(EventKind.GAME_FINISHED, game, seats, told))
    return sql.insert_finished_fact(game, row.data, row.owners, leaf)


def record_dead(game: int) -> None:
    """Record that the service failed to play a game."""
    logged = {"outcome": GameStatus.DEAD}
    _record(game, LeafKind.GAME_ENDED, logged, EventKind.GAME_DEAD)


def record_voided(game: int, note: str, replacement: int | None) -> None:
    """Record that a game counts no more, and which game replaces it."""
    logged = {"replacement": replacement}
    told = {"note": note, **logged}
    _record(game, LeafKind.GAME_VOIDED, logged, EventKind.GAME_VOIDED, told)


def record_renewed(game: int, match: Match) -> None:
    """Log that a match gets other decks, because a dead game is played after all."""
    data = {"game": game, "match": match.pk, "decks": {"rule": decks.RULE}}
    record(leaf=NewLeaf(LeafKind.DECKS_RENEWED, match.pk, data, seal_of(match)))


def record_cancelled(games: QuerySet[Game]) -> None:
    """Log that these games, which the caller changes, are not played."""
    rows = games.exclude(match__kind=Match.Kind.COMPARISON).select_related("match")
    logged = {"outcome": GameStatus.CANCELLED}
    leaves = [
        _leaf(LeafKind.GAME_ENDED, game.pk, game.match, logged)
        for game in rows.defer("replay")
    ]
    record_all(fact(leaf=leaf) for leaf in leaves)


def record_released_attempt(game: int, fence: int) -> None:
    """Log that a worker returned a game."""
    logged = {"attempt": fence, "outcome": Attempt.Outcome.RELEASED}
    _record(game, LeafKind.ATTEMPT_ENDED, logged)


def record_failed_attempt(
    game: int, fence: int, seat: int | None, evidence: JsonObject | None
) -> None:
    """Log that an attempt failed, in which seat, and how the bot of that seat ended.

    Not the reason, which may name hosts, and not the clock, which is in floats.
    """
    logged: dict[str, object] = {"attempt": fence, "outcome": Attempt.Outcome.FAILED}
    if seat is not None:
        logged["seat"] = seat
    if evidence is not None:
        logged |= {name: evidence[name] for name in ("exit", "counters")}
    _record(game, LeafKind.ATTEMPT_ENDED, logged)


def _record(
    game: int,
    leaf_kind: LeafKind,
    logged: Mapping[str, object],
    kind: EventKind | None = None,
    told: Mapping[str, object] | None = None,
) -> None:
    match = Match.objects.get(games=game)
    event = None
    if kind is not None and not match.embargo:
        event = _event(kind, game, sql.seated_bots(game), told or {})
    leaf = _leaf(leaf_kind, game, match, logged) if is_logged(match.kind) else None
    if event is not None or leaf is not None:
        record(event, leaf)


def _event(
    kind: EventKind, game: int, seats: Sequence[sql.SeatedBot], told: Mapping[str, Any]
) -> NewEvent:
    data = {
        "game": game,
        "match": seats[0].match,
        "kind": seats[0].kind,
        "ladder": seats[0].ladder or None,
        "bots": [seat.bot for seat in seats],
        "url": f"{API}games/{game}/",
        **told,
    }
    public = seats[0].kind != Match.Kind.COMPARISON
    return NewEvent(kind, data, public, [seat.owner for seat in seats])


def _leaf(
    kind: LeafKind, game: int, match: Match, logged: Mapping[str, Any]
) -> NewLeaf:
    data = {"game": game, "match": match.pk, **logged}
    return NewLeaf(kind, game, data, seal_of(match))
