"""What each page shows, joined from all rooms. No page computes what a room knows."""

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from ladder.bots import selectors as bots
from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import Person
from ladder.errors import LadderError
from ladder.games import shown as games
from ladder.games.models import OPEN, Game, Match
from ladder.ratings import shown as ratings
from ladder.ratings.models import Ladder, Rating, Season
from ladder.tournaments import shown as tournaments
from ladder.tournaments.models import Tournament
from ladder.web.charts import Chart, chart
from ladder.web.frames import frames

ROWS = 50
PARTS = ("castles", "king")
LINKED = "match__pairing__season__ladder"


@dataclass(frozen=True, slots=True)
class Standing:
    """A bot on one ladder."""

    ladder: Ladder
    rating: Rating
    rank: int
    chart: Chart | None


def default_ladder() -> Ladder | None:
    return ratings.ladders().order_by("-default", "id").first()


def board(ladder: Ladder, page: int) -> dict[str, Any]:
    season = ratings.current(ladder)
    if season is None:
        return {"ladder": ladder, "rows": [], "total": 0}
    part = ratings.leaderboard(season, (page - 1) * ROWS, ROWS)
    return {
        "ladder": ladder,
        "season": season,
        "rows": _with_bars(part.rows),
        "total": part.total,
        "page": page,
        "previous": page - 1 if page > 1 else None,
        "next": page + 1 if page * ROWS < part.total else None,
    }


def _with_bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each interval in percent of the page's whole range."""
    if not rows:
        return rows
    low = min(row["low"] for row in rows)
    span = max(row["high"] for row in rows) - low or 1.0
    for row in rows:
        row["bar"] = {
            key: round(2 + 96 * (row[key] - low) / span, 1)
            for key in ("low", "mu", "high")
        }
    return rows


def standings(bot: Bot) -> list[Standing]:
    rows = Rating.objects.filter(bot=bot).exclude(season__status=Season.Status.ARCHIVED)
    return [
        Standing(
            ladder=row.season.ladder,
            rating=row,
            rank=Rating.objects.filter(season=row.season, rating__gt=row.rating).count()
            + 1,
            chart=chart(ratings.history(row.season, bot)),
        )
        for row in rows.select_related("season__ladder")
    ]


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
        "standings": standings(bot),
        "games": found[:20],
    }


def game_page(game: Game, person: Person) -> dict[str, Any]:
    try:
        replay = json.loads(games.replay(game))
        why_not = ""
    except LadderError as refusal:
        replay, why_not = None, str(refusal)
    own = bool(games.own_seats(game, person))
    return {
        "game": game,
        "seats": game.seats.all(),
        "replay": replay,
        "moves": _moves(replay) if replay else [],
        "scoring": _scoring(replay) if replay else [],
        "why_not": why_not,
        "open": game.status in OPEN,
        "logs": games.logs(game, person) if own else [],
        "pairing": getattr(game.match, "pairing", None),
    }


def _moves(replay: dict[str, Any]) -> list[dict[str, Any]]:
    names = [player["name"] for player in replay["players"]]
    return [
        {
            "index": index,
            "seat": move["seat"],
            "name": names[move["seat"]],
            "actions": move["actions"],
            "auto": move.get("auto", False),
            "ms": move.get("ms"),
            "forfeits": [
                forfeit
                for forfeit in replay["forfeits"]
                if forfeit["before_move"] == index
            ],
        }
        for index, move in enumerate(replay["moves"])
    ]


def _scoring(replay: dict[str, Any]) -> list[dict[str, Any]]:
    parts = ("castles", "king", "master") if replay["setup"]["master"] else PARTS
    return [
        {
            "phase": row["phase"],
            "cells": [
                f"{' + '.join(str(row[part][seat]) for part in parts)} → {total}"
                for seat, total in enumerate(row["scores"])
            ],
        }
        for row in replay["scoring"]
    ]


def frames_json(game: Game) -> bytes:
    document = json.loads(games.replay(game))
    names = [player["name"] for player in document["players"]]
    told = {"players": names, "frames": frames(document)}
    return json.dumps(told, separators=(",", ":")).encode()


def match_page(match: Match) -> dict[str, Any]:
    return {
        "match": match,
        "games": match.games.all(),
        "pairing": getattr(match, "pairing", None),
    }


def tournament_page(tournament: Tournament) -> dict[str, Any]:
    lines = tournaments.lines(tournament)
    return {
        "tournament": tournament,
        "lines": lines,
        "rules": [
            rule.replace("_", " ") for rule in (lines[0]["tie_breaks"] if lines else ())
        ],
        "ties": tournaments.ties(tournament),
        "rounds": tournaments.rounds(tournament),
        "entrants": tournaments.entrants(tournament),
    }
