"""The list routes of the REST API: each filter, its first page, and a page far behind.

A client reaches the 1,000th page by following `next`. Here its cursor is made from the
row before it, because 1,000 requests for each filter would take hours. A list that has
fewer rows is asked for its last page instead, if it has two.

`tests.fill` makes no forfeits, voids, events and no audit log. Some are added for
the measurement and rolled back after it, so a database can be measured often.
"""

import base64
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.test import Client

from engine.editions import PRESETS
from engine.faults import Fault
from ladder.accounts import tokens
from ladder.accounts.scopes import Scope
from ladder.bots.models import Bot
from ladder.bots.views import BotList
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.games.filters import (
    MATCH_STATES,
    ORDERINGS,
    SIZES,
    match_order,
    order_of,
)
from ladder.games.models import Game, GameStatus, Match, Seat
from ladder.games.search import SeatOutcome
from ladder.games.views import GameList
from ladder.moderation.models import AuditEntry
from ladder.moderation.views import AuditLog
from ladder.ratings.models import Rating, Season
from ladder.web.api.match_views import MatchList
from tests.bench.scale.meter import cost_of
from tests.bench.scale.report import MeasuredRow

ROUNDS = 11
TARGET_MS = 50
PAGE = 50  # rows, the default
DEEP_PAGE = 1000
EVENTS = 20_000
AUDIT_ENTRIES = 20_000
OPERATOR = "routes-bench"

# One game in 500 with a forfeit, one in 1,000 voided, and some that wait. One match in
# 1,000 is a challenge.
RARE_ROWS = """
    UPDATE games_seat SET fault = 'timeout'
        WHERE number = 0 AND game_id % 500 = 3 AND rank IS NOT NULL;
    UPDATE games_game SET status = 'voided'
        WHERE id % 1000 = 5 AND status = 'finished';
    UPDATE games_game SET status = 'scheduled'
        WHERE id % 5000 = 1 AND status = 'cancelled';
    UPDATE games_match SET kind = 'challenge' WHERE id % 1000 = 7
"""

Query = Mapping[str, Any]


class CursorList(NamedTuple):
    """A list with pages by cursor, and the queries that are asked of it."""

    address: str
    view: Any
    order: Callable[[Query], Sequence[str]]
    queries: Sequence[Query]


def route_rows() -> Iterator[MeasuredRow]:
    """Measure every list route with each of its filters, and yield the rows."""
    season = Season.objects.exclude(status=Season.Status.ARCHIVED).get()
    rated = Rating.objects.filter(season=season, bot__house=False)
    rated = rated.order_by("-games").select_related("bot__owner", "submission")
    busiest, usual = rated[0], rated[rated.count() // 2]
    with _rare_rows():
        token = tokens.new_token(
            User.objects.get(username=OPERATOR),
            "bench",
            scopes=Scope.READ | Scope.OPERATE,
        )
        client = Client(SERVER_NAME="localhost", HTTP_AUTHORIZATION=f"Bearer {token}")
        for listed in _cursor_lists(busiest, usual):
            for query in listed.queries:
                yield _measured(client, listed.address, query)
                deep = _deep_cursor(listed, query)
                if deep is not None:
                    yield _measured(client, listed.address, {**query, "cursor": deep})
        for address, query in _other_lists(season, busiest, usual):
            yield _measured(client, address, query)


def _measured(client: Client, address: str, query: Query) -> MeasuredRow:
    url = f"/api/v1/{address}"
    if query:
        url += f"?{urlencode(query)}"

    def get() -> None:
        response = client.get(url)
        if response.status_code != 200:
            raise RuntimeError(f"{url}: {response.status_code}")

    words = {**query, "cursor": "far"} if "cursor" in query else query
    name = f"{address} {' '.join(f'{key}={words[key]}' for key in words)}".strip()
    cost = cost_of(get, cache.clear, ROUNDS)
    return MeasuredRow(name, TARGET_MS, "ms", *cost)


def _deep_cursor(listed: CursorList, query: Query) -> str | None:
    """Return the cursor of the page far behind; None if the list has one page."""
    filterset = listed.view.filterset_class(query, queryset=listed.view.queryset)
    assert filterset.is_valid(), filterset.errors
    columns = listed.order(query)
    rows: QuerySet[Any] = filterset.qs.order_by(*columns)
    before = (DEEP_PAGE - 1) * PAGE - 1
    row = next(iter(rows[before : before + 1]), None)
    if row is None:
        row = next(iter(rows.reverse()[PAGE : PAGE + 1]), None)
    if row is None:
        return None
    position = getattr(row, columns[0].lstrip("-"))
    return base64.b64encode(urlencode({"p": str(position)}).encode()).decode()


def _newest_first(_query: Query) -> Sequence[str]:
    return ("-id",)


def _cursor_lists(busiest: Rating, usual: Rating) -> list[CursorList]:
    return [
        CursorList("games/", GameList, order_of, list(_game_queries(busiest, usual))),
        CursorList(
            "matches/", MatchList, match_order, list(_match_queries(busiest, usual))
        ),
        CursorList("bots/", BotList, _newest_first, list(_bot_queries(busiest))),
        CursorList("audit/", AuditLog, _newest_first, list(_audit_queries())),
    ]


def _game_queries(busiest: Rating, usual: Rating) -> Iterator[Query]:
    middle = _middle_game()
    assert middle.finished_at is not None
    yield {}
    for rating in (busiest, usual):
        bot = {"bot": rating.bot.slug}
        yield bot
        yield {"owner": rating.bot.owner.username}
        yield {"submission": rating.submission_id}
        for outcome in SeatOutcome:
            yield {**bot, "result": outcome.value}
            yield {"owner": rating.bot.owner.username, "result": outcome.value}
        yield {**bot, "forfeit": Fault.TIMEOUT.value}
        yield {**bot, "status": GameStatus.VOIDED.value}
        yield {**bot, "seats": SIZES[-1]}
        yield {**bot, "ordering": "finished"}
        yield {**bot, **_period(middle.finished_at)}
    yield {"bot": busiest.bot.slug, "opponent": usual.bot.slug}
    yield {"bot": usual.bot.slug, "opponent": busiest.bot.slug}
    for fault in (Fault.TIMEOUT, Fault.MEMORY):
        yield {"forfeit": fault.value}
    for ruleset in PRESETS:
        yield {"ruleset": ruleset}
    for size in SIZES:
        yield {"seats": size}
    for status in GameStatus.values:
        yield {"status": status}
    yield {"match": middle.match_id}
    yield {"ladder": "main"}
    yield {"ladder": "no-such-ladder"}
    for ordering in ORDERINGS:
        yield {"ordering": ordering}
    yield _period(middle.finished_at)
    yield {"from": middle.finished_at.isoformat()}
    yield {"to": middle.finished_at.isoformat()}
    yield {"status": GameStatus.DEAD.value, "ruleset": "yucata", "seats": SIZES[0]}
    yield {"forfeit": Fault.TIMEOUT.value, **_period(middle.finished_at)}


def _period(middle: datetime) -> dict[str, str]:
    day = timedelta(days=1)
    return {"from": (middle - day).isoformat(), "to": middle.isoformat()}


def _match_queries(busiest: Rating, usual: Rating) -> Iterator[Query]:
    middle = Match.objects.all()[Match.objects.count() // 2].created_at
    yield {}
    for rating in (busiest, usual):
        yield {"bot": rating.bot.slug}
        yield {"bot": rating.bot.slug, "kind": Match.Kind.CHALLENGE.value}
        yield {"bot": rating.bot.slug, **_period(middle)}
    for kind in Match.Kind.values:
        yield {"kind": kind}
    yield {"ladder": "main"}
    yield {"ladder": "no-such-ladder"}
    for ruleset in PRESETS:
        yield {"ruleset": ruleset}
    for size in SIZES:
        yield {"seats": size}
    for state in MATCH_STATES:
        yield {"state": state}
    yield _period(middle)
    yield {"from": middle.isoformat()}
    yield {"to": middle.isoformat()}
    yield {"tournament": "cup-1"}


def _bot_queries(busiest: Rating) -> Iterator[Query]:
    yield {}
    yield {"owner": busiest.bot.owner.username}
    for house in ("true", "false"):
        yield {"house": house}
    for status in Bot.Status.values:
        yield {"status": status}
    yield {"name": "7"}
    yield {"name": "no such name"}


def _audit_queries() -> Iterator[Query]:
    yield {}
    for kind in (AuditEntry.Kind.VOID, AuditEntry.Kind.BAN, AuditEntry.Kind.FINALS):
        yield {"kind": kind.value}
    yield {"by": OPERATOR}
    yield {"target": "game 7"}
    yield {"target": "bot nobody"}


def _other_lists(
    season: Season, busiest: Rating, usual: Rating
) -> Iterator[tuple[str, Query]]:
    """Yield the lists with numbered pages, and those without pages."""
    yield from _ladder_lists(season)
    for rating in (busiest, usual):
        yield from _lists_of_bot(season, rating)
    one, other = busiest.bot.slug, usual.bot.slug
    yield f"ladders/{season.ladder.slug}/bots/{one}/against/{other}/", {}
    for query in ("status=finished", "status=running", "archived=true", "managed=true"):
        name, _, value = query.partition("=")
        yield "tournaments/", {name: value}
    for part in ("", "entrants/", "rounds/", "bracket/", "standings/", "games/"):
        yield f"tournaments/cup-1/{part}", {}
    for query in (
        {},
        {"after": EVENTS // 2},
        {"after": 0, "type": EventKind.GAME_VOIDED.value},
        {"after": 0, "bot": one},
        {"after": 0, "game": 10**9},
    ):
        yield "events/", query
    for address in ("workers/", "operate/workers/", "languages/", "status/"):
        yield address, {}


def _ladder_lists(season: Season) -> Iterator[tuple[str, Query]]:
    ladder = f"ladders/{season.ladder.slug}/"
    bots = season.ratings.count()
    middle = _middle_game().finished_at
    assert middle is not None
    yield "ladders/", {}
    yield ladder, {}
    for query in ({}, {"trend": "true"}, {"at": middle.isoformat()}):
        board = f"{ladder}leaderboard/"
        yield board, query
        yield board, {**query, "page": max(1, math.ceil(bots / PAGE))}
        yield board, {**query, "limit": 10, "page": max(1, bots // 10)}
    yield f"{ladder}bands/", {}
    yield f"{ladder}second-opinion/", {}


def _lists_of_bot(season: Season, rating: Rating) -> Iterator[tuple[str, Query]]:
    bot = f"ladders/{season.ladder.slug}/bots/{rating.bot.slug}/"
    yield bot, {}
    yield f"{bot}history/", {}
    yield f"{bot}history/", {"before": season.head // 2}
    yield f"{bot}record/", {}
    yield f"{bot}second-opinion/", {}
    yield f"{bot}against/", {}
    yield f"{bot}against/", {"limit": 10, "page": DEEP_PAGE}
    bot = f"bots/{rating.bot.slug}/"
    yield f"{bot}submissions/", {}
    yield f"{bot}submissions/", {"status": "ready"}
    yield f"{bot}ladders/", {}


def _middle_game() -> Game:
    """Return the game in the middle of all finished ones."""
    finished = Game.objects.filter(finished_at__isnull=False).defer("replay")
    return finished.order_by("pk")[finished.count() // 2]


@contextmanager
def _rare_rows() -> Iterator[None]:
    """Add what `tests.fill` leaves out, and roll it back."""
    with transaction.atomic():
        operator = User.objects.create_superuser(OPERATOR)
        _add_audit_entries(operator)
        _add_events()
        # The season of `tests.fill` begins when the command does, after its games.
        first = Match.objects.earliest("created_at").created_at
        Season.objects.update(started_at=first)
        with connection.cursor() as cursor:
            for statement in RARE_ROWS.split(";"):
                cursor.execute(statement)
            for model in (Seat, Game, Match, AuditEntry, Fact):
                cursor.execute(f"ANALYZE {model._meta.db_table}")
        yield
        transaction.set_rollback(True)


def _add_audit_entries(operator: User) -> None:
    kinds = (AuditEntry.Kind.VOID, AuditEntry.Kind.BENCH, AuditEntry.Kind.REINSTATE)
    AuditEntry.objects.bulk_create(
        AuditEntry(
            kind=AuditEntry.Kind.BAN if not k % 1000 else kinds[k % len(kinds)],
            by=operator if k % 2 else None,
            target=f"game {k}",
            why="to measure",
        )
        for k in range(AUDIT_ENTRIES)
    )


def _add_events() -> None:
    newest = Fact.objects.aggregate(number=Max("number"))["number"] or 0
    slugs = list(Bot.objects.order_by("pk").values_list("slug", flat=True)[:1000])
    Fact.objects.bulk_create(
        Fact(
            number=newest + 1 + k,
            kind=EventKind.GAME_FINISHED,
            data={"game": k, "bots": [slugs[k % len(slugs)], slugs[-k % len(slugs)]]},
            public=True,
            owners=[],
        )
        for k in range(EVENTS)
    )
