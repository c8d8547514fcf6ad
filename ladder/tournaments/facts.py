"""The facts about tournaments, which are told, but not logged.

If results are held back, an event tells no more than the pages do: no round that is not
revealed is over, and only the round after the last revealed one has begun.
"""

from collections.abc import Collection

from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, record
from ladder.tournaments.models import Tournament, TournamentStatus

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


def record_new_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
    """Tell which rounds have begun, as far as their pairings are shown."""
    last = tournament.revealed + 1 if tournament.held_back else max(rounds, default=0)
    shown = sorted(round_ for round_ in rounds if round_ <= last)
    if shown:
        tell(tournament, EventKind.TOURNAMENT_ROUND_STARTED, rounds=shown)


def record_decided_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
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
