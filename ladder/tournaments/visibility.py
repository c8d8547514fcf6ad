"""What of a tournament is shown to anybody.

Where results are held back, nothing that follows from a result is known here before
its round is revealed: neither points nor places, nor who meets in the rounds after
the next one, nor how many of those there are. (A round depends on the rounds before
it only, so the next round's pairings may be shown.)
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from django.db.models import Count, F, Prefetch, Q, QuerySet

from ladder.games import visibility as games
from ladder.games.models import Game
from ladder.tournaments import selectors
from ladder.tournaments.formats.config import BadConfig
from ladder.tournaments.formats.standings import Standings
from ladder.tournaments.formats.values import FINAL, LOSERS
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)


def tournaments() -> QuerySet[Tournament]:
    """List what was announced, newest first, with the number of entrants."""
    there = Q(entrants__withdrawn_at__isnull=True)
    return (
        Tournament.objects.exclude(status=TournamentStatus.DRAFT)
        .select_related("seeding")
        .annotate(entered=Count("entrants", filter=there))
        .order_by("-id")
    )


def entrants(tournament: Tournament) -> QuerySet[Entrant]:
    return tournament.entrants.select_related("bot", "submission").order_by(
        F("seed").asc(nulls_last=True), "id"
    )


def is_known(tournament: Tournament, round_: int) -> bool:
    """Tell whether the results of a round are shown."""
    return not tournament.held_back or round_ <= tournament.revealed


def fixtures(tournament: Tournament) -> QuerySet[Fixture]:
    """List the fixtures that are shown, in the order of the rounds."""
    chairs = FixtureSeat.objects.order_by("number").select_related("entrant__bot")
    rows = tournament.fixtures.select_related("match")
    if tournament.held_back:
        rows = rows.filter(round__lte=tournament.revealed + 1)
    return rows.prefetch_related(Prefetch("chairs", chairs)).order_by(
        "round", "-pool", "table", "leg"
    )


def described(tournament: Tournament, row: Fixture) -> dict[str, Any]:
    """Return a fixture as it may be seen; what is not known yet is null."""
    known = is_known(tournament, row.round) and bool(row.how)
    public = row.match is not None and not row.match.embargo
    return {
        "round": row.round,
        "pool": POOLS.get(row.pool, f"group {row.pool}"),
        "table": row.table + 1,
        "leg": row.leg + 1,
        "match": row.match_id if public else None,
        "how": row.how if known else None,
        "entrants": [
            {
                "bot": chair.entrant.bot.slug,
                "name": chair.entrant.bot.name,
                "points": chair.points if known else None,
                "score": chair.score if known else None,
            }
            for chair in row.chairs.all()
        ],
    }


POOLS: Mapping[int, str] = {0: "main", LOSERS: "losers", FINAL: "final"}


def rounds(tournament: Tournament) -> list[dict[str, Any]]:
    """Return the rounds that are shown, each with its fixtures."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in fixtures(tournament):
        found.setdefault(row.round, []).append(described(tournament, row))
    return [
        {"round": number, "known": is_known(tournament, number), "fixtures": rows}
        for number, rows in found.items()
    ]


def standings(tournament: Tournament) -> Standings | None:
    """Return the standings by what is known; None before the start."""
    field = selectors.field(tournament)
    try:
        rules = selectors.config(tournament)
    except BadConfig:
        return None
    if not field:
        return None
    rows = [
        selectors.folded(row, known=is_known(tournament, row.round))
        for row in fixtures(tournament)
    ]
    return Standings(rules, field, rows)


def lines(tournament: Tournament) -> list[dict[str, Any]]:
    """Return the standings, best first; points as exact fractions and as numbers."""
    found = standings(tournament)
    bots = {entrant.pk: entrant for entrant in entrants(tournament)}
    return [
        {
            "rank": line.rank,
            "bot": bots[line.key].bot.slug,
            "name": bots[line.key].bot.name,
            "seed": bots[line.key].seed,
            "points": float(line.points),
            "played": line.played,
            "tie_breaks": {str(rule): float(v) for rule, v in line.values.items()},
            "withdrawn": bots[line.key].withdrawn_at is not None,
            "note": line.note,
        }
        for line in (found.lines if found else [])
    ]


def ties(tournament: Tournament) -> list[dict[str, Any]]:
    """Explain each pair of neighbours with equal points."""
    found = standings(tournament)
    names = {e.pk: e.bot.slug for e in entrants(tournament)}
    pairs = pairwise(found.lines) if found else ()
    return [
        {"first": names[a.key], "second": names[b.key], "why": why}
        for a, b in pairs
        if found and a.points == b.points and (why := found.explain(a.key, b.key))
    ]


def compared(tournament: Tournament, one: Entrant, two: Entrant) -> list[str]:
    """Say what separates any two of those who started."""
    found = standings(tournament)
    keys = {line.key for line in found.lines} if found else set()
    if found is None or not {one.pk, two.pk} <= keys:
        return []
    return found.explain(one.pk, two.pk)


def bracket(tournament: Tournament) -> list[dict[str, Any]]:
    """Return the contests of an elimination by place; a slot is a bot or null."""
    found = standings(tournament)
    if found is None or found.bracket is None:
        return []
    names = {e.pk: e.bot.slug for e in entrants(tournament)}
    shown = tournament.revealed + 1 if tournament.held_back else None
    return [
        {
            "round": place.round,
            "pool": POOLS.get(place.pool, ""),
            "table": place.table + 1,
            "slots": [names.get(s) if isinstance(s, int) else None for s in c.slots],
            "winner": names.get(c.winner) if isinstance(c.winner, int) else None,
            "wins": [float(points) for points in c.wins],
            "why": c.why,
        }
        for place, c in sorted(found.bracket.contests.items(), key=_turn)
        if shown is None or place.round <= shown
    ]


def _turn(item: tuple[Any, Any]) -> tuple[int, int, int]:
    place = item[0]
    return place.round, -place.pool, place.table


def its_games(tournament: Tournament) -> QuerySet[Game]:
    """List its games that are shown, newest first."""
    return games.games().filter(match__fixture__tournament=tournament)
