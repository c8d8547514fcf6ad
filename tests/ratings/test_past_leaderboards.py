"""Leaderboards at past moments, and histories over all seasons, over REST."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from random import Random
from typing import Any

import pytest
from rest_framework.test import APIClient

from ladder.bots.models import Bot
from ladder.games import services as games
from ladder.games.models import Game
from ladder.moderation.audit import Operator
from ladder.ratings import (
    leaderboard,
    ledger_reader,
    operations,
    past,
    rater,
    skill_snapshots,
    summaries,
)
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Season
from tests import factories
from tests.games import factories as game_factories
from tests.ratings.factories import finish, make_matches
from torres.rating.ledger import RatingChange

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
BOARD = "/api/v1/ladders/main/leaderboard/"
HISTORY = "/api/v1/ladders/main/bots/one/history/"
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
Board = list[tuple[int, str, float, float, bool]]


def present(season: Season) -> Board:
    page = leaderboard.leaderboard_page(season, 0, 200)
    return [
        (row.rank, row.bot, row.mu, row.sigma, row.tied_with_above) for row in page.rows
    ]


def columns(rows: list[dict[str, Any]]) -> Board:
    return [
        (row["rank"], row["bot"], row["mu"], row["sigma"], row["tied_with_above"])
        for row in rows
    ]


def fold_all(season: Season) -> int:
    while rater.fold(season.pk):
        pass
    season.refresh_from_db()
    return season.head


def date_entries(season: Season) -> None:
    """Let entry n be written on day n, and summarise the ledger."""
    while summaries.catch_up(season.pk):
        pass
    for entry in Entry.objects.all():
        written = FIRST_DAY + timedelta(days=entry.seq)
        Entry.objects.filter(pk=entry.pk).update(created_at=written)


@pytest.fixture
def boards(data_dir, monkeypatch: pytest.MonkeyPatch) -> dict[int, Board]:
    """Return the leaderboard after some entries of a season, which has a void.

    Entry n was written on day n. A snapshot of all skills is kept every five entries.
    """
    monkeypatch.setattr(skill_snapshots, "SNAPSHOT_ENTRIES", 5)
    rng = Random(5)
    season = ensure_default_ladder().seasons.get()
    bots = [game_factories.bot(name) for name in "abcdef"]
    rater.welcome(season.pk)
    season.refresh_from_db()
    found = {season.head: present(season)}
    for number in range(4):
        make_matches(season, 3)
        for game in Game.objects.filter(status="scheduled"):
            finish(game, [rng.randint(1, 3) for _ in game.seats.all()])
        head = fold_all(season)
        found[head] = present(season)
        if number == 2:
            games.void(Game.objects.filter(status="finished").earliest("pk").pk, "why")
            head = fold_all(season)
            found[head] = present(season)
            game_factories.submission(bots[0])
            rater.welcome(season.pk)
            season.refresh_from_db()
            found[season.head] = present(season)
    date_entries(season)
    Season.objects.update(started_at=FIRST_DAY)
    return found


def at(seq: int, **more: int) -> str:
    moment = FIRST_DAY + timedelta(days=seq, **more)
    return moment.isoformat().replace("+00:00", "Z")


def test_a_past_leaderboard_is_the_one_that_was_shown(
    anybody: APIClient, boards: dict[int, Board]
) -> None:
    assert len(boards) == 7
    for seq, expected in boards.items():
        for moment in (at(seq), at(seq, hours=23)):
            document = anybody.get(f"{BOARD}?at={moment}").json()
            assert columns(document["results"]) == expected
            assert document["count"] == len(expected)
            assert document["at"] == moment


def test_a_past_row_has_no_present_numbers(
    anybody: APIClient, boards: dict[int, Board]
) -> None:
    then = anybody.get(f"{BOARD}?at={at(max(boards))}").json()["results"][0]
    now = anybody.get(BOARD).json()["results"][0]

    unknown = {"status", "submission", "games", "forfeits", "settling", "joint"}
    assert {name for name, value in then.items() if value is None} == unknown
    assert {name: now[name] for name in now if name not in unknown} == {
        name: then[name] for name in then if name not in unknown
    }
    assert anybody.get(BOARD).json()["at"] is None


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_pages_of_a_past_leaderboard_make_the_whole(
    anybody: APIClient, boards: dict[int, Board], limit: int
) -> None:
    # After the first entries many ratings are equal.
    for seq in list(boards)[:2]:
        page = anybody.get(f"{BOARD}?at={at(seq)}&limit={limit}").json()
        rows = page["results"]
        while page["next"]:
            page = anybody.get(page["next"]).json()
            rows += page["results"]
        assert columns(rows) == boards[seq]


def test_before_the_first_entry_nobody_is_rated(
    anybody: APIClient, boards: dict[int, Board]
) -> None:
    assert anybody.get(f"{BOARD}?at={at(0)}").json()["results"] == []
    early = anybody.get(f"{BOARD}?at={at(0, hours=-1)}")
    assert (early.status_code, early.json()["code"]) == (404, "not-found")
    assert "began later" in early.json()["detail"]


def test_a_bot_is_listed_as_long_as_it_was_rated(
    anybody: APIClient, boards: dict[int, Board]
) -> None:
    """A merge takes a bot off the present leaderboard, and off none before."""
    season = Season.objects.get()
    last = max(boards)
    bots = {bot.slug: bot for bot in Bot.objects.all()}
    operations.merge(Operator(None, "a test"), gone=bots["a"], into=bots["b"])
    season.refresh_from_db()
    date_entries(season)

    before = anybody.get(f"{BOARD}?at={at(last)}").json()["results"]
    after = anybody.get(f"{BOARD}?at={at(season.head)}").json()["results"]
    assert columns(before) == boards[last]
    assert columns(after) == present(season)
    assert len(after) == len(before) - 1


def test_a_past_leaderboard_reads_few_entries(
    anybody: APIClient, boards: dict[int, Board], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    stored = ledger_reader.changes

    def changes(*season: int, **bounds: int) -> Iterator[list[RatingChange]]:
        for entry in stored(*season, **bounds):
            read.append(entry)
            yield entry

    monkeypatch.setattr(ledger_reader, "changes", changes)
    for seq, expected in boards.items():
        read.clear()
        document = anybody.get(f"{BOARD}?at={at(seq)}").json()
        assert columns(document["results"]) == expected
        assert len(read) == seq % 5
    assert max(boards) > 15


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-13-01", "1e5", "a%00"])
@pytest.mark.usefixtures("boards")
def test_a_moment_that_makes_no_sense_is_refused(
    anybody: APIClient, moment: str
) -> None:
    answer = anybody.get(f"{BOARD}?at={moment}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "at"


def test_the_last_entry_is_found_with_few_queries(
    boards: dict[int, Board], django_assert_max_num_queries
) -> None:
    season = Season.objects.get()
    for seq in range(season.head + 1):
        with django_assert_max_num_queries(season.head.bit_length()):
            found = past.last_entry(season, FIRST_DAY + timedelta(days=seq))
        assert found == seq


@pytest.fixture
def seasons(data_dir) -> list[Season]:
    """Return three seasons of a ladder. The bot `one` played in the first and third."""
    one, two = factories.make_bot("one"), factories.make_bot("two")
    first = factories.make_ladder()
    found = [first]
    for number in (1, 2, 3):
        season = first
        if number > 1:
            Season.objects.update(status="archived", ended_at=FIRST_DAY)
            season = Season.objects.create(ladder=first.ladder, number=number)
            found.append(season)
        factories.rate(season, two, 25.0, 8.0)
        if number == 2:
            continue
        factories.rate(season, one, 25.0, 8.0)
        for mu in range(26, 30):
            game = factories.make_match(one, two, finished=0).games.get()
            factories.fold(season, game, {one.bot: (float(mu), 7.0)})
    return found


def test_a_history_leads_through_all_seasons(
    anybody: APIClient, seasons: list[Season], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = anybody.get(HISTORY)
    assert [point["mu"] for point in whole.json()] == [25.0, 26.0, 27.0, 28.0, 29.0]
    assert {point["season"] for point in whole.json()} == {3}

    monkeypatch.setattr(leaderboard, "MAX_HISTORY_ENTRIES", 2)
    parts = []
    address: str | None = HISTORY
    while address:
        answer = anybody.get(address)
        parts.append([(point["season"], point["mu"]) for point in answer.json()])
        link = re.fullmatch('<(.+)>; rel="prev"', answer.headers.get("Link", ""))
        address = link[1] if link else None

    assert [len(part) for part in parts] == [2, 2, 1, 2, 2, 1]
    mus = [25.0, 26.0, 27.0, 28.0, 29.0]
    assert list(chain(*reversed(parts))) == [(s, mu) for s in (1, 3) for mu in mus]


def test_a_history_of_one_season_is_chosen(
    anybody: APIClient, seasons: list[Season]
) -> None:
    def marks(query: str) -> list[tuple[int, float]]:
        points = anybody.get(f"{HISTORY}?{query}").json()
        return [(point["season"], point["mu"]) for point in points]

    assert marks("season=1") == [(1, mu) for mu in (25.0, 26.0, 27.0, 28.0, 29.0)]
    assert marks("season=2") == []
    assert marks("season=1&before=4") == [(1, 25.0), (1, 26.0)]
    assert anybody.get(f"{HISTORY}?season=9").status_code == 404
    for query in ("season=0", "before=x", "page=1", "before=9999999999"):
        answer = anybody.get(f"{HISTORY}?{query}")
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == query.split("=")[0]
