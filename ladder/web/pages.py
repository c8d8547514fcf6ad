"""What each page shows, joined from all rooms. No page computes what a room knows."""

import json
from typing import Any

from django.db.models import QuerySet

from ladder.accounts.permissions import Person
from ladder.bots import selectors as bots
from ladder.bots.models import Bot, Submission
from ladder.common.errors import LadderError
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game, GameStatus, Match
from ladder.tournaments import visibility as tournaments
from ladder.tournaments.models import Tournament
from ladder.web import boards
from ladder.web.templatetags.formatting import spaced

ROWS = 50
PARTS = ("castles", "king")
ORIGINS = (
    "pairing__season__ladder",
    "challenge__ladder",
    "challenge__by",
    "fixture__tournament",
)
"""What a match may have been made for."""
GOING = (
    Tournament.Status.ENTRY,
    Tournament.Status.CHECK_IN,
    Tournament.Status.RUNNING,
)
RULES = {"sonneborn_berger": "Sonneborn-Berger"}
LIMITS = {
    "memory_mb": ("Memory", " MiB"),
    "pids": ("Processes and threads", ""),
    "tmp_mb": ("Temporary files", " MiB"),
    "line_bytes": ("Longest line", " bytes"),
    "output_bytes": ("All that it writes", " bytes"),
    "start_ms": ("Time to start", " ms"),
    "move_ms": ("Time for each move", " ms"),
    "bank_ms": ("Time in the bank", " ms"),
}


def latest_games(
    rows: QuerySet[Game], before: int | None
) -> tuple[list[Game], int | None]:
    """Return a page of games, newest first, and where the next page goes on."""
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: ROWS + 1])
    return found[:ROWS], found[ROWS - 1].pk if len(found) > ROWS else None


def bot_page(bot: Bot, person: Person) -> dict[str, Any]:
    own = bots.owns(person, bot)
    submissions = Submission.objects.filter(bot=bot).order_by("-number")[:20]
    found, _ = latest_games(games.games_of(bot), None)
    return {
        "bot": bot,
        "own": own,
        "submissions": submissions,
        "standings": boards.standings(bot),
        "games": found[:20],
    }


def game_page(game: Game, person: Person) -> dict[str, Any]:
    own = bool(games.own_seats(game, person))
    live = game.status in OPEN
    return {
        "game": game,
        "seats": game.seats.all(),
        "faults": any(seat.fault for seat in game.seats.all()),
        "live": live,
        "logs": games.logs(game, person) if own else [],
        "origin": origin(game.match),
        **(_so_far(game) if live else _played(game)),
    }


def _played(game: Game) -> dict[str, Any]:
    try:
        replay = json.loads(games.replay(game))
    except LadderError as refusal:
        return {"why_not": str(refusal)}
    forfeits = replay["forfeits"]
    return {
        "replay": replay,
        "moves": _moves(game, replay["moves"], forfeits),
        "scoring": _scoring(replay),
        "last": [f for f in forfeits if f["before_move"] == len(replay["moves"])],
    }


def _so_far(game: Game) -> dict[str, Any]:
    if game.status != GameStatus.RUNNING:
        return {"why_not": "It waits for a worker; this page shows it when it begins."}
    try:
        told = games.moves_so_far(game)
    except LadderError as refusal:
        return {"why_not": str(refusal)}
    return {"watch": True, "moves": _moves(game, told.moves, [])}


def _moves(
    game: Game, moves: list[dict[str, Any]], forfeits: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    names = [seat.submission.bot.name for seat in game.seats.all()]
    return [
        {
            "index": index,
            "seat": move["seat"],
            "name": names[move["seat"]],
            "actions": move["actions"],
            "auto": move.get("auto", False),
            "ms": move.get("ms"),
            "forfeits": [f for f in forfeits if f["before_move"] == index],
        }
        for index, move in enumerate(moves)
    ]


def _scoring(replay: dict[str, Any]) -> list[dict[str, Any]]:
    parts = ("castles", "king", "master") if replay["setup"]["master"] else PARTS
    return [
        {
            "phase": row["phase"],
            "cells": [
                {
                    "parts": " + ".join(str(row[part][seat]) for part in parts),
                    "total": total,
                }
                for seat, total in enumerate(row["scores"])
            ],
        }
        for row in replay["scoring"]
    ]


def origin(match: Match) -> dict[str, Any]:
    """Say what a match was made for: by a ladder, an owner, or a tournament."""
    return {
        name: getattr(match, name, None) for name in ("pairing", "challenge", "fixture")
    }


def match_page(match: Match) -> dict[str, Any]:
    made = origin(match)
    return {
        "match": match,
        "games": match.games.all(),
        "origin": made,
        "others": _weighed(match.why) if match.why else [],
        "limits": [
            (
                LIMITS.get(name, (name, ""))[0],
                f"{value:,}{LIMITS.get(name, ('', ''))[1]}",
            )
            for name, value in match.limits.items()
        ],
    }


def _weighed(why: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the numbers that a matchmaker noted of the others, with their names."""
    others = why.get("others", [])
    names = Bot.objects.in_bulk([other["bot"] for other in others])
    return [other | {"name": names.get(other["bot"], "?")} for other in others]


def tournament_page(tournament: Tournament, person: Person) -> dict[str, Any]:
    lines = tournaments.lines(tournament)
    rules = lines[0].tie_breaks if lines else ()
    return {
        "tournament": tournament,
        "lines": lines,
        "format": spaced(tournament.config.get("format", "swiss")),
        "rules": [RULES.get(r, spaced(r)) for r in rules],
        "noted": any(line.note for line in lines),
        "ties": tournaments.ties(tournament),
        "bracket": _bracket(tournament, {line.bot: line.name for line in lines}),
        "rounds": tournaments.rounds(tournament),
        "entrants": tournaments.entrants(tournament),
        "mine": _mine(tournament, person) if tournament.status in GOING else [],
    }


def _mine(tournament: Tournament, person: Person) -> list[dict[str, Any]]:
    """List the bots of whoever looks, each with its entry or with none."""
    if not person.is_authenticated:
        return []
    entries = {e.bot_id: e for e in tournament.entrants.filter(bot__owner=person.pk)}
    found = [
        {"bot": bot, "entrant": entries.get(bot.pk)}
        for bot in Bot.objects.filter(owner=person.pk).order_by("name")
    ]
    if tournament.status == Tournament.Status.ENTRY:
        return found
    return [row for row in found if row["entrant"]]


def _bracket(tournament: Tournament, names: dict[str, str]) -> list[dict[str, Any]]:
    """Lay an elimination out in columns: for each part its rounds with their tables."""
    parts: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for contest in tournaments.bracket(tournament):
        rounds = parts.setdefault(contest.pool, {})
        rounds.setdefault(contest.round, []).append(_contest(contest, names))
    return [
        {
            "name": name,
            "rounds": [{"round": k, "contests": rows} for k, rows in rounds.items()],
        }
        for name, rounds in parts.items()
    ]


def _contest(
    contest: tournaments.VisibleContest, names: dict[str, str]
) -> dict[str, Any]:
    begun = contest.winner is not None or any(contest.wins)
    wins = contest.wins if begun else [None] * len(contest.slots)
    nobody = "open" if contest.winner is None else "bye"
    slots = [
        {
            "bot": bot,
            "name": names.get(bot, bot) if bot else nobody,
            "won": bot is not None and bot == contest.winner,
            "wins": points if bot else None,
        }
        for bot, points in zip(contest.slots, wins, strict=False)
    ]
    return {"table": contest.table, "why": contest.why, "slots": slots}
