"""The tables of a dataset: their columns, and the rows that are public.

Games come through `games.visibility` and the serializers of the API, so nothing is
here that a visitor could not read. Owners, archives, logs and limits are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from django.db.models import Max, QuerySet

from ladder.bots.models import Bot, Submission
from ladder.games import visibility
from ladder.games.models import Game, Match, Seat
from ladder.games.serializers import GameSerializer
from ladder.games.shared_deals import undecided
from ladder.games.visibility import PLAYED
from ladder.ratings import ledger_reader
from ladder.ratings.models import Season
from ladder.tournaments import visibility as tournaments
from ladder.tournaments.models import Tournament, TournamentStatus

ColumnType = Literal["int", "float", "text", "bool", "time", "texts"]
Row = dict[str, Any]

TABLES: Mapping[str, Mapping[str, ColumnType]] = {
    "games": {
        "id": "int",
        "match": "int",
        "index": "int",
        "status": "text",
        "ruleset": "text",
        "ladder": "text",
        "players": "int",
        "reason": "text",
        "engine": "text",
        "replaces": "int",
        "started_at": "time",
        "finished_at": "time",
    },
    "matches": {
        "id": "int",
        "kind": "text",
        "ladder": "text",
        "ruleset": "text",
        "seats": "int",
        "why": "text",
        "seed": "text",
        "deal_of": "int",
        "deck_batch": "int",
        "deck_size": "int",
        "created_at": "time",
    },
    "seats": {
        "game": "int",
        "seat": "int",
        "bot": "text",
        "submission": "int",
        "score": "int",
        "rank": "int",
        "forfeit": "text",
    },
    "moves": {
        "game": "int",
        "index": "int",
        "seat": "int",
        "actions": "texts",
        "ms": "float",
        "auto": "bool",
    },
    "entries": {
        "ladder": "text",
        "season": "int",
        "seq": "int",
        "kind": "text",
        "game": "int",
        "inputs": "text",
    },
    "ratings": {
        "ladder": "text",
        "season": "int",
        "seq": "int",
        "kind": "text",
        "game": "int",
        "bot": "text",
        "bot_id": "int",
        "mu": "float",
        "sigma": "float",
    },
    "tournaments": {
        "tournament": "text",
        "name": "text",
        "ruleset": "text",
        "format": "text",
        "started_at": "time",
        "finished_at": "time",
    },
    "fixtures": {
        "tournament": "text",
        "round": "int",
        "pool": "text",
        "table": "int",
        "leg": "int",
        "match": "int",
        "how": "text",
        "bot": "text",
        "points": "text",
        "score": "int",
    },
    "standings": {
        "tournament": "text",
        "rank": "int",
        "bot": "text",
        "points": "float",
        "played": "int",
        "withdrawn": "bool",
    },
    "submissions": {
        "bot": "text",
        "submission": "int",
        "house": "bool",
        "language": "text",
        "created_at": "time",
        "digest": "text",
    },
}
"""The columns of each table. `submission` is the number of an upload of its bot, and
`deck_size` the number of leaves of the public log from whose root the decks follow.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of some tables, and the key after which the next chunk begins."""

    rows: dict[str, list[Row]]
    last: int
    more: bool


Reader = Callable[[int, int], Chunk]
"""Reads the next chunk: the rows whose key is above the first number, up to the other.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """Tables that are read together, in the order of one key, up to `until`."""

    name: str
    until: int
    read: Reader


def sources() -> list[Source]:
    """Return what a dataset of this moment is read from."""
    newest_game = visibility.game_keys().filter(status__in=PLAYED).first()
    last_game = newest_game.pk if newest_game else 0
    seasons = Season.objects.select_related("ladder").order_by("pk")
    return [
        Source("games", last_game, read_games),
        Source("moves", last_game, read_moves),
        Source("matches", _last(Match.objects.all()), read_matches),
        *(
            Source(f"ratings-{season.pk}", season.head, _ratings_reader(season))
            for season in seasons
        ),
        Source("tournaments", _last(Tournament.objects.all()), read_tournaments),
        Source("submissions", _last(Submission.objects.all()), read_submissions),
    ]


def _last(rows: QuerySet[Any]) -> int:
    """Return the largest key of a table, or 0."""
    return rows.aggregate(last=Max("pk"))["last"] or 0


GAMES_PER_CHUNK = 100
MATCHES_PER_CHUNK = 500
ENTRIES_PER_CHUNK = 1_000
SUBMISSIONS_PER_CHUNK = 1_000


def read_games(after: int, until: int) -> Chunk:
    """Return finished games with their seats."""
    keys = _played(after, until)
    rows: dict[str, list[Row]] = {"games": [], "seats": []}
    for game in visibility.with_seats(keys):
        rows["games"].append(_game_row(game))
        rows["seats"] += [_seat_row(game, seat) for seat in game.seats.all()]
    return _chunk_of_games(rows, keys, until)


def read_moves(after: int, until: int) -> Chunk:
    """Return the moves of finished games that are public."""
    keys = _played(after, until)
    rows: list[Row] = []
    for number, text in visibility.public_replays(key.pk for key in keys):
        moves = msgspec.json.decode(text)["moves"]
        rows += [_move_row(number, k, move) for k, move in enumerate(moves)]
    return _chunk_of_games({"moves": rows}, keys, until)


def read_matches(after: int, until: int) -> Chunk:
    """Return the matches that are over, with their decks and why they were made."""
    shown = Match.objects.filter(
        ~undecided("pk"), embargo=False, pk__gt=after, pk__lte=until
    )
    matches = list(shown.order_by("pk")[:MATCHES_PER_CHUNK])
    rows = [
        {name: getattr(match, name, None) for name in TABLES["matches"]}
        | {
            "why": match.why and msgspec.json.encode(match.why).decode(),
            "deal_of": match.deal_of_id,
            "deck_batch": match.batch_id,
            "deck_size": match.deal_size,
        }
        for match in matches
    ]
    last = matches[-1].pk if matches else until
    return Chunk({"matches": rows}, last, len(matches) == MATCHES_PER_CHUNK)


def read_tournaments(after: int, until: int) -> Chunk:
    """Return the next tournament that is over and holds no result back."""
    ended = tournaments.tournaments().filter(
        status=TournamentStatus.FINISHED, pk__gt=after, pk__lte=until
    )
    tournament = ended.order_by("pk").first()
    rows: dict[str, list[Row]] = {"tournaments": [], "fixtures": [], "standings": []}
    if tournament is not None and tournaments.is_complete(tournament):
        key = {"tournament": tournament.slug}
        row = {name: getattr(tournament, name, None) for name in TABLES["tournaments"]}
        rows["tournaments"] = [row | key | {"format": tournament.config["format"]}]
        rows["fixtures"] = [key | row for row in _fixture_rows(tournament)]
        rows["standings"] = [
            key
            | {
                name: getattr(line, name)
                for name in TABLES["standings"]
                if name != "tournament"
            }
            for line in tournaments.overview(tournament).lines
        ]
    last = tournament.pk if tournament else until
    return Chunk(rows, last, tournament is not None)


def _fixture_rows(tournament: Tournament) -> Iterator[Row]:
    """Yield a row for each entrant of each fixture."""
    all_rounds = tournaments.round_sizes(tournament)
    for shown in tournaments.rounds(tournament, all_rounds):
        for fixture in shown.fixtures:
            place = {
                name: getattr(fixture, name)
                for name in ("round", "pool", "table", "leg", "match", "how")
            }
            for seat in fixture.entrants:
                yield place | {
                    "bot": seat.bot,
                    "points": seat.points,
                    "score": seat.score,
                }


def _played(after: int, until: int) -> list[Game]:
    """Return the next finished games, with their keys only."""
    played = visibility.game_keys().filter(
        status__in=PLAYED, finished_at__isnull=False, pk__gt=after, pk__lte=until
    )
    return list(played.order_by("pk")[:GAMES_PER_CHUNK])


def _chunk_of_games(rows: dict[str, list[Row]], keys: list[Game], until: int) -> Chunk:
    last = keys[-1].pk if keys else until
    return Chunk(rows, last, len(keys) == GAMES_PER_CHUNK)


def _game_row(game: Game) -> Row:
    shown = GameSerializer(game).data
    known = {name: shown.get(name) for name in TABLES["games"]}
    return known | {
        "players": len(shown["seats"]),
        "started_at": game.started_at,
        "finished_at": game.finished_at,
    }


def _seat_row(game: Game, seat: Seat) -> Row:
    return {
        "game": game.pk,
        "seat": seat.number,
        "bot": seat.submission.bot.slug,
        "submission": seat.submission.number,
        "score": seat.score,
        "rank": seat.rank,
        "forfeit": seat.fault or None,
    }


def _move_row(game: int, index: int, move: Mapping[str, Any]) -> Row:
    return {
        "game": game,
        "index": index,
        "seat": move["seat"],
        "actions": list(move["actions"]),
        "ms": move.get("ms"),
        "auto": move.get("auto", False),
    }


def _ratings_reader(season: Season) -> Reader:
    def read(after: int, until: int) -> Chunk:
        """Return the next entries of the ledger, and the ratings after them."""
        end = min(after + ENTRIES_PER_CHUNK, until)
        entries = list(
            ledger_reader.lines_and_changes(season.pk, after=after, until=end)
        )
        bots = {change["bot"] for _, changes in entries for change in changes}
        slugs = dict(Bot.objects.filter(pk__in=bots).values_list("pk", "slug"))
        keys: dict[int, Row] = {
            line.seq: {
                "ladder": season.ladder.slug,
                "season": season.number,
                "seq": line.seq,
                "kind": line.kind.value,
                "game": line.game,
            }
            for line, _ in entries
        }
        ratings = [
            keys[line.seq]
            | {
                "bot": slugs.get(change["bot"]),
                "bot_id": change["bot"],
                "mu": change["after"][0] if change["after"] else None,
                "sigma": change["after"][1] if change["after"] else None,
            }
            for line, changes in entries
            for change in changes
        ]
        inputs = [
            keys[line.seq] | {"inputs": msgspec.json.encode(line.inputs).decode()}
            for line, _ in entries
        ]
        return Chunk({"entries": inputs, "ratings": ratings}, end, end < until)

    return read


def read_submissions(after: int, until: int) -> Chunk:
    """Return the submissions that passed validation."""
    passed = Submission.objects.filter(
        pk__gt=after,
        pk__lte=until,
        status__in=(Submission.Status.READY, Submission.Status.RETIRED),
    )
    rows = list(
        passed.order_by("pk").values_list(
            "pk",
            "bot__slug",
            "number",
            "bot__house",
            "language",
            "created_at",
            "digest",
        )[:SUBMISSIONS_PER_CHUNK]
    )
    names = list(TABLES["submissions"])
    return Chunk(
        {"submissions": [dict(zip(names, row[1:], strict=True)) for row in rows]},
        rows[-1][0] if rows else until,
        len(rows) == SUBMISSIONS_PER_CHUNK,
    )
