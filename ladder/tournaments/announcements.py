"""The events of tournaments.

If results are held back, an event tells no more than the pages do: no round that is not
revealed is over, and only the round after the last revealed one has begun.
"""

from collections.abc import Collection
from typing import Any

from ladder.events.kinds import EventKind
from ladder.events.outbox import API, publish
from ladder.tournaments.models import Tournament, TournamentStatus

_KIND_OF = {
    TournamentStatus.ENTRY: EventKind.TOURNAMENT_OPENED,
    TournamentStatus.CHECK_IN: EventKind.TOURNAMENT_ENTRY_CLOSED,
    TournamentStatus.RUNNING: EventKind.TOURNAMENT_STARTED,
    TournamentStatus.FINISHED: EventKind.TOURNAMENT_FINISHED,
    TournamentStatus.CANCELLED: EventKind.TOURNAMENT_CANCELLED,
}


def announce_status(tournament: Tournament, status: TournamentStatus) -> None:
    """Tell the new status of a tournament."""
    publish(_KIND_OF[status], _data(tournament))


def announce_pause(tournament: Tournament) -> None:
    """Tell that no more matches are scheduled until the tournament is resumed."""
    publish(EventKind.TOURNAMENT_PAUSED, _data(tournament))


def announce_resumption(tournament: Tournament) -> None:
    """Tell that a paused tournament goes on."""
    publish(EventKind.TOURNAMENT_RESUMED, _data(tournament))


def announce_archive(tournament: Tournament) -> None:
    """Tell that the lists do not show the tournament any more."""
    publish(EventKind.TOURNAMENT_ARCHIVED, _data(tournament))


def announce_new_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
    """Tell which rounds have begun, as far as their pairings are shown."""
    last = tournament.revealed + 1 if tournament.held_back else max(rounds, default=0)
    shown = sorted(round_ for round_ in rounds if round_ <= last)
    if shown:
        data = _data(tournament) | {"rounds": shown}
        publish(EventKind.TOURNAMENT_ROUND_STARTED, data)


def announce_decided_rounds(tournament: Tournament, rounds: Collection[int]) -> None:
    """Announce the end of each of these rounds that has no open fixture any more.

    Rounds that are not revealed stay secret.
    """
    if tournament.held_back:
        rounds = [round_ for round_ in rounds if round_ <= tournament.revealed]
    if not rounds:
        return
    undecided = tournament.fixtures.filter(round__in=rounds, how="")
    over = set(rounds) - set(undecided.order_by().values_list("round", flat=True))
    if over:
        data = _data(tournament) | {"rounds": sorted(over)}
        publish(EventKind.TOURNAMENT_ROUND_FINISHED, data)


def announce_reveal(tournament: Tournament, round_: int) -> None:
    """Tell that the results up to a round are shown from now on."""
    data = _data(tournament) | {"round": round_}
    publish(EventKind.TOURNAMENT_REVEALED, data)


def _data(tournament: Tournament) -> dict[str, Any]:
    return {
        "tournament": tournament.slug,
        "name": tournament.name,
        "url": f"{API}tournaments/{tournament.slug}/",
    }
