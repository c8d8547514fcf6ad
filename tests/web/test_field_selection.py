"""The query parameter `fields` selects from the answers of all routes."""

import pytest
from django.core.cache import caches

from tests.factories import Show

LADDER = "/api/v1/ladders/main/"
BOARD = f"{LADDER}leaderboard/"

pytestmark = pytest.mark.usefixtures("show")


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        ("/api/v1/bots/", "slug,status"),
        ("/api/v1/games/", "id,seats"),
        ("/api/v1/matches/", "why"),
        ("/api/v1/ladders/", "slug"),
        (BOARD, "rank,bot"),
    ],
)
def test_the_rows_of_a_list_have_the_chosen_fields(anybody, address, fields) -> None:
    whole = anybody.get(address).json()
    page = anybody.get(address, {"fields": fields}).json()

    assert page["results"]
    names = fields.split(",")
    assert page["results"] == [
        {name: row[name] for name in names} for row in whole["results"]
    ]
    assert page.keys() == whole.keys()


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        ("/api/v1/bots/grendel/", "name"),
        (LADDER, "tables,slug"),
        ("/api/v1/me/", "name"),
    ],
)
def test_an_object_has_the_chosen_fields(ana, address: str, fields: str) -> None:
    whole = ana.get(address).json()
    part = ana.get(f"{address}?fields={fields}").json()

    assert part == {name: whole[name] for name in fields.split(",")}
    assert list(part) == fields.split(",")


def test_a_plain_list_has_the_chosen_fields(anybody) -> None:
    address = "/api/v1/bots/grendel/ladders/?fields=ladder"
    assert anybody.get(address).json() == [{"ladder": "main"}]


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("/api/v1/bots/", "slug"),
        ("/api/v1/bots/?owner=cleo", "slug"),
        ("/api/v1/bots/grendel/", "slug"),
        (BOARD, "tied_with_above"),
        (f"{BOARD}?page=1000", "tied_with_above"),
    ],
)
def test_an_unknown_field_is_refused_with_the_known_ones(
    anybody, user, address: str, known: str
) -> None:
    user("cleo")
    sign = "&" if "?" in address else "?"
    answer = anybody.get(f"{address}{sign}fields={known},secret")

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "invalid"
    (error,) = problem["errors"]
    assert error["field"] == "fields"
    assert "'secret'" in error["detail"]
    assert known in error["detail"]


@pytest.mark.parametrize("text", ["", ",", "a,,b", "a b", "A", "seats.bot", "a" * 501])
def test_a_bad_list_of_fields_is_refused(anybody, text: str) -> None:
    answer = anybody.get("/api/v1/bots/", {"fields": text})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_other_parameters_are_still_checked(anybody) -> None:
    assert anybody.get("/api/v1/bots/?fields=slug&nonsense=1").status_code == 400
    page = anybody.get("/api/v1/bots/?fields=slug&owner=ana").json()
    assert page["results"] == [{"slug": "grendel"}]
    assert anybody.get("/api/v1/bots/nobody/?fields=slug").status_code == 404


@pytest.mark.parametrize("address", ["/api/v1/bots/?limit=1", f"{BOARD}?limit=1"])
def test_the_next_page_has_the_same_fields(anybody, address: str) -> None:
    name = "bot" if "leaderboard" in address else "slug"
    page = anybody.get(f"{address}&fields={name}").json()
    assert page["next"]
    following = anybody.get(page["next"]).json()

    assert [list(row) for row in following["results"]] == [[name]]


def test_each_choice_of_fields_has_an_etag_of_its_own(anybody) -> None:
    whole = anybody.get(BOARD)
    ranks, bots = (
        anybody.get(f"{BOARD}?fields=rank"),
        anybody.get(f"{BOARD}?fields=bot"),
    )
    assert len({whole["ETag"], ranks["ETag"], bots["ETag"]}) == 3

    def status(address: str, tag: str) -> int:
        return anybody.get(address, HTTP_IF_NONE_MATCH=tag).status_code

    assert status(f"{BOARD}?fields=rank", ranks["ETag"]) == 304
    assert status(f"{BOARD}?fields=rank", whole["ETag"]) == 200
    assert status(f"{BOARD}?fields=bot", ranks["ETag"]) == 200
    assert status(BOARD, ranks["ETag"]) == 200
    assert status(BOARD, whole["ETag"]) == 304


def test_shared_answers_are_told_apart_by_their_fields(anybody, settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()
    queries = ["", "?fields=rank", "?fields=bot", ""]
    rows = [anybody.get(f"{BOARD}{each}").json()["results"][0] for each in queries]

    assert list(rows[1]) == ["rank"]
    assert list(rows[2]) == ["bot"]
    assert rows[0] == rows[3]
    assert len(rows[0]) > 10


def test_files_have_no_fields(anybody, show: Show) -> None:
    for address in (f"games/{show.game.pk}/replay/", "exports/games/"):
        answer = anybody.get(f"/api/v1/{address}?fields=id")
        assert answer.status_code == 400
        assert "Unknown parameter" in answer.json()["detail"]
