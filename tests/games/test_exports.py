"""Exports of games and replays: complete, resumable, bounded, and without secrets."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
import zstandard
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from engine.replay import verify
from ladder.games import exports
from ladder.games.models import Game, GameStatus, Match, Seat
from tests.factories import make_bot, make_match, play
from tests.web.module_rows import module_rows

pytestmark = pytest.mark.django_db
GAMES, REPLAYS = "/api/v1/exports/games/", "/api/v1/exports/replays/"
KINDS = pytest.mark.parametrize("address", [GAMES, REPLAYS])
FIRST_DAY = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def rows(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[int]]:
    with module_rows(django_db_blocker, tmp_path_factory.mktemp("data")):
        one, two = make_bot("one", "ana"), make_bot("two", "ben")
        numbers = [make_match(one, two).games.get().pk for _ in range(7)]
        days = [3, 1, 2, 2, 2, 5, 4]  # three finished at the same moment
        for number, day in zip(numbers, days, strict=True):
            Game.objects.filter(pk=number).update(
                finished_at=FIRST_DAY + timedelta(days=day)
            )
        yield numbers


@pytest.fixture
def games(rows: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of seven finished games, which are read in small chunks."""
    for kind in ("GAMES", "REPLAYS"):
        small = exports.ExportKind(getattr(exports, kind).fragments, chunk=3)
        name = "GameExport" if kind == "GAMES" else "ReplayExport"
        monkeypatch.setattr(f"ladder.games.export_views.{name}.kind", small)
    return list(rows)


def read(client: APIClient, address: str, **headers: str) -> list[dict[str, Any]]:
    """Return the lines of an export."""
    answer = client.get(address, **headers)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/x-ndjson"
    text = b"".join(answer.streaming_content)
    assert text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def hang_up(answer: Any) -> None:
    """Close a response that has begun, like a server whose client has gone.

    The test client's iterator keeps the connection to the database open meanwhile.
    """
    answer._iterator.close()


def number_of(line: dict[str, Any]) -> int:
    return int(line["id"] if "id" in line else line["game"]["id"])


def numbers(lines: list[dict[str, Any]]) -> list[int]:
    return [number_of(line) for line in lines if "end" not in line]


def test_a_line_is_what_the_list_shows(anybody: APIClient, games: list[int]) -> None:
    lines = read(anybody, GAMES)
    listed = anybody.get("/api/v1/games/").json()["results"]

    assert [line["game"] for line in lines[:-1]] == listed
    assert lines[-1] == {"end": True, "count": 7, "withheld": 0, "next": None}


def test_a_line_is_the_replay(anybody: APIClient, games: list[int]) -> None:
    lines = read(anybody, REPLAYS)

    assert numbers(lines) == games[::-1]
    for line in lines[:-1]:
        verify(line["replay"])
        single = anybody.get(f"/api/v1/games/{line['id']}/replay/")
        assert line["replay"] == single.json()


@KINDS
@pytest.mark.parametrize("ordering", ["-id", "id", "finished", "-finished"])
def test_an_export_goes_on_after_each_line(
    anybody: APIClient, games: list[int], address: str, ordering: str
) -> None:
    listed = anybody.get(f"/api/v1/games/?ordering={ordering}").json()["results"]
    lines = read(anybody, f"{address}?ordering={ordering}")
    whole = numbers(lines)

    assert whole == [row["id"] for row in listed]
    for position, line in enumerate(lines[:-1], start=1):
        cursor = line["cursor"]
        rest = read(anybody, f"{address}?ordering={ordering}&cursor={cursor}")
        assert numbers(rest) == whole[position:]


@KINDS
def test_a_part_is_bounded_and_says_where_the_next_one_begins(
    anybody: APIClient, games: list[int], address: str, monkeypatch
) -> None:
    monkeypatch.setattr(exports, "MAX_PART_BYTES", 100)
    by_bytes = list(_parts(anybody, address, ""))
    monkeypatch.undo()
    by_limit = list(_parts(anybody, address, "&limit=2"))

    assert [len(part) for part in by_bytes] == [1] * 7 + [0]
    assert [len(part) for part in by_limit] == [2, 2, 2, 1]
    assert list(chain(*by_bytes)) == list(chain(*by_limit)) == games


def _parts(client: APIClient, address: str, query: str) -> Iterator[list[int]]:
    cursor = ""
    while True:
        lines = read(client, f"{address}?ordering=id{query}{cursor}")
        yield numbers(lines)
        if lines[-1]["next"] is None:
            return
        cursor = f"&cursor={lines[-1]['next']}"


@KINDS
def test_filters_apply(anybody: APIClient, games: list[int], address: str) -> None:
    Seat.objects.filter(game=games[2]).update(rank=1, tied=True)
    Seat.objects.filter(game=games[3], bot__slug="one").update(fault="crash")

    assert numbers(read(anybody, f"{address}?bot=one&result=tied")) == [games[2]]
    assert numbers(read(anybody, f"{address}?forfeit=crash")) == [games[3]]
    assert numbers(read(anybody, f"{address}?to=2026-11-03")) == [games[1]]
    assert numbers(read(anybody, f"{address}?status=voided")) == []


@KINDS
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("bot=nobody", "bot"),
        ("result=won", "result"),
        ("status=running", "status"),
        ("limit=0", "limit"),
        ("limit=5.0", "limit"),
        ("limit=99999999999", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=2026-11-01T00:00:00Z,5", "cursor"),
        ("ordering=finished&cursor=5", "cursor"),
        ("ordering=finished&cursor=never,5", "cursor"),
        ("cursor=", "cursor"),
        ("page=2", "page"),
    ],
)
@pytest.mark.usefixtures("games")
def test_a_wrong_value_is_named(
    anybody: APIClient, address: str, query: str, field: str
) -> None:
    answer = anybody.get(f"{address}?{query}", HTTP_ACCEPT="application/x-ndjson")

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"] == field


@KINDS
def test_what_is_unfinished_or_held_back_is_left_out(
    api, games: list[int], address: str
) -> None:
    one, two = (seat.submission for seat in Seat.objects.filter(game=games[0]))
    Match.objects.filter(games=games[5]).update(embargo=True)
    make_match(one, two, finished=0)
    Game.objects.filter(match=make_match(one, two).pk).update(status=GameStatus.DEAD)
    Game.objects.filter(pk=games[6]).update(status=GameStatus.VOIDED)
    half = make_match(one, two, games=2, finished=1)
    first, second = half.games.order_by("index")

    for name in ("", "ana", "cleo"):
        lines = read(api(name), f"{address}?ordering=id")
        public = [first.pk] if address == GAMES else []
        assert numbers(lines) == [*games[:5], games[6], *public]
        assert lines[-1]["withheld"] == 1 - len(public)

    play(second)
    both = [*games[:5], games[6], first.pk, second.pk]
    assert numbers(read(api(""), f"{address}?ordering=id")) == both


@KINDS
def test_zstd_is_sent_to_those_who_accept_it(
    anybody: APIClient, games: list[int], address: str
) -> None:
    plain = anybody.get(address, HTTP_ACCEPT_ENCODING="zstd;q=0, br")
    text = b"".join(plain.streaming_content)
    packed = anybody.get(address, HTTP_ACCEPT_ENCODING="gzip, zstd")
    batches = list(packed.streaming_content)

    assert not plain.has_header("Content-Encoding")
    assert packed["Content-Encoding"] == "zstd"
    assert "Accept-Encoding" in packed["Vary"]
    reader = zstandard.ZstdDecompressor().decompressobj()
    assert b"".join(map(reader.decompress, batches)) == text
    assert reader.eof


def test_all_lines_before_a_cut_can_be_unpacked(
    anybody: APIClient, games: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "BATCH_BYTES", 1)
    packed = anybody.get(REPLAYS, HTTP_ACCEPT_ENCODING="zstd")
    batches = iter(packed.streaming_content)
    reader = zstandard.ZstdDecompressor().decompressobj()
    begin = reader.decompress(next(batches)) + reader.decompress(next(batches))
    hang_up(packed)

    assert numbers([json.loads(line) for line in begin.splitlines()]) == games[:-3:-1]


def test_a_reader_reads_one_export_at_a_time(api, games: list[int]) -> None:
    ana = api("ana")
    first = ana.get(GAMES)
    next(first.streaming_content)
    second = ana.get(REPLAYS)
    others = [api(""), api("ben")]
    opened = [other.get(GAMES) for other in others]
    crowded = api("cleo").get(GAMES)

    assert (second.status_code, second.json()["code"]) == (429, "too-many")
    assert "already" in second.json()["detail"]
    assert int(second["Retry-After"]) > 0
    assert [answer.status_code for answer in opened] == [200, 200]
    assert crowded.status_code == 429

    # The web server closes the response when the client has gone.
    hang_up(first)
    assert numbers(read(ana, GAMES)) == games[::-1]
    for answer in opened:
        list(answer.streaming_content)
    assert numbers(read(api("cleo"), GAMES)) == games[::-1]


def test_an_export_that_fails_gives_its_place_back(
    anybody: APIClient, games: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = exports.ExportKind(lambda keys: {}[0], chunk=3)
    with monkeypatch.context() as broken:
        broken.setattr("ladder.games.export_views.GameExport.kind", kind)
        answer = anybody.get(GAMES)
        with pytest.raises(KeyError):
            list(answer.streaming_content)

    assert numbers(read(anybody, GAMES)) == games[::-1]


def test_a_damaged_replay_is_withheld_and_stops_nothing(
    anybody: APIClient, games: list[int]
) -> None:
    Game.objects.filter(pk=games[1]).update(replay=b"damaged")
    lines = read(anybody, REPLAYS)

    assert numbers(lines) == [number for number in games[::-1] if number != games[1]]
    assert lines[-1] == {"end": True, "count": 6, "withheld": 1, "next": None}


@KINDS
def test_head_reads_nothing(
    anybody: APIClient, games: list[int], address: str, django_assert_num_queries
) -> None:
    with django_assert_num_queries(0):
        answer = anybody.head(address)

    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/x-ndjson"


def test_chunks_need_a_fixed_number_of_queries(
    anybody: APIClient, games: list[int], django_assert_num_queries
) -> None:
    with django_assert_num_queries(3 * 3):  # keys, games and seats, in three chunks
        read(anybody, GAMES)
    with django_assert_num_queries(3 * 2):
        read(anybody, REPLAYS)
