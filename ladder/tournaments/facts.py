"""The facts about tournaments: their events and leaves of the log.

If results are held back, a fact tells no more than the pages do: no round that is not
revealed is over, and only the round after the last revealed one has begun.
"""

import json
from collections.abc import Collection

from django.db.models import Prefetch, Q, QuerySet

from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, NewLeaf, fact, record, record_all
from ladder.games.models import Game, GameStatus
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from torres.formats.values import ResultKind
from torres.tlog.leaves import LeafKind

_KIND_OF = {
    TournamentStatus.ENTRY: EventKind.TOURNAMENT_OPENED,
    TournamentStatus.CHECK_IN: EventKind.TOURNAMENT_ENTRY_CLOSED,
    TournamentStatus.RUNNING: EventKind.TOURNAMENT_STARTED,
    TournamentStatus.FINISHED: EventKind.TOURNAMENT_FINISHED,
    TournamentStatus.CANCELLED: EventKind.TOURNAMENT_CANCELLED,
}


def record_status(tournament: Tournament, status: TournamentStatus) -> None:
    """Tell the new status of a tournament."""
    tell(tournament, _KIND_OF[status])


def tell(tournament: Tournament, kind: EventKind, **more: object) -> None:
    """Tell what happened to a tournament. `more` is added to the data of the event."""
    data = {
        "tournament": tournament.slug,
        "name": tournament.name,
        "url": f"{API}tournaments/{tournament.slug}/",
        **more,
    }
    record(NewEvent(kind, data))


def record_step(
    tournament: Tournament, decided: Collection[Fixture], began: Collection[int]
) -> None:
    """Tell and log the fixtures that a step decided, and the rounds that it began."""
    log_decisions(
        tournament, Fixture.objects.filter(pk__in=[row.pk for row in decided])
    )
    _tell_new_rounds(tournament, began)
    _tell_decided_rounds(tournament, {row.round for row in decided})


def _tell_new_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
    """Tell which rounds have begun, as far as their pairings are shown."""
    last = tournament.revealed + 1 if tournament.held_back else max(rounds, default=0)
    shown = sorted(round_ for round_ in rounds if round_ <= last)
    if shown:
        tell(tournament, EventKind.TOURNAMENT_ROUND_STARTED, rounds=shown)


def _tell_decided_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
    """Tell the end of each of these rounds that has no open fixture any more.

    Rounds that are not revealed stay secret.
    """
    if tournament.held_back:
        rounds = [round_ for round_ in rounds if round_ <= tournament.revealed]
    if not rounds:
        return
    undecided = tournament.fixtures.filter(round__in=rounds, how="")
    over = set(rounds) - set(undecided.order_by().values_list("round", flat=True))
    if over:
        tell(tournament, EventKind.TOURNAMENT_ROUND_FINISHED, rounds=sorted(over))


def log_start(tournament: Tournament) -> None:
    """Log the format and the entrants that play, each with its seed and its upload."""
    rows = tournament.entrants.exclude(submission=None).order_by("seed")
    data = {
        "tournament": tournament.pk,
        "config": json.dumps(tournament.config, sort_keys=True),
        "entrants": [
            list(row) for row in rows.values_list("pk", "bot", "submission", "seed")
        ],
    }
    record(leaf=NewLeaf(LeafKind.TOURNAMENT_STARTED, tournament.pk, data))


def log_leaver(entrant: Entrant) -> None:
    """Log that an entrant of a running tournament plays no more."""
    data = {"tournament": entrant.tournament_id, "entrant": entrant.pk}
    record(leaf=NewLeaf(LeafKind.ENTRANT_LEFT, entrant.tournament_id, data))


def log_decisions(tournament: Tournament, fixtures: QuerySet[Fixture]) -> None:
    """Log the results of these fixtures as they are now, as far as they are shown.

    A fixture that is open again has no result. Results that are held back are logged
    when they are revealed. Byes and walkovers of the round after that are shown,
    because its pairings are.
    """
    if tournament.held_back:
        # The lock makes a reveal wait, which logs what is hidden now.
        row = Tournament.objects.select_for_update().get(pk=tournament.pk)
        shown = Q(round__lte=row.revealed)
        without_match = Q(how__in=(ResultKind.BYE, ResultKind.WALKOVER))
        shown |= without_match & Q(round=row.revealed + 1, leg=0)
        fixtures = fixtures.filter(shown)
    finished = Game.objects.filter(status=GameStatus.FINISHED).order_by("index")
    rows = fixtures.order_by("round", "-pool", "table", "leg").prefetch_related(
        Prefetch("seats", FixtureSeat.objects.order_by("number")),
        Prefetch("match__games", finished.only("match_id"), to_attr="with_result"),
    )
    record_all(fact(leaf=_decision(row)) for row in rows)


def _decision(row: Fixture) -> NewLeaf:
    seats = row.seats.all()
    data = {
        "tournament": row.tournament_id,
        "fixture": [row.round, row.pool, row.table, row.leg],
        "match": row.match_id,
        "games": [game.pk for game in getattr(row.match, "with_result", ())],
        "how": row.how,
        "entrants": [seat.entrant_id for seat in seats],
        "points": [seat.points for seat in seats],
        "scores": [seat.score for seat in seats],
    }
    return NewLeaf(LeafKind.FIXTURE_DECIDED, row.tournament_id, data)
