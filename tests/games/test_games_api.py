"""Matches, games and replays over REST: what is public, and what stays secret."""

import json
from functools import partial

import pytest
from rest_framework.serializers import ListSerializer, ModelSerializer
from rest_framework.test import APIClient

from engine.replay import verify
from ladder.bots.models import Submission
from ladder.games import visibility
from ladder.games.models import Game, GameStatus, Seat
from ladder.games.serializers import GameSerializer, MatchSerializer
from tests import factories
from tests.factories import make_bot, make_ladder, make_match, pair

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
SEED = "5eedba5e" * 4


@pytest.fixture
def bots(data_dir) -> tuple[Submission, Submission]:
    return make_bot("Ana's", "ana"), make_bot("Ben's", "ben")


def test_a_game_shows_its_seats_and_its_ladder(anybody: APIClient, bots) -> None:
    match = make_match(*bots)
    pair(make_ladder(), match)

    game = anybody.get("/api/v1/games/").json()["results"][0]

    assert game["status"] == "finished"
    assert game["ladder"] == "main"
    assert [seat["bot"] for seat in game["seats"]] == ["anas", "bens"]
    assert sorted(seat["rank"] for seat in game["seats"]) == [1, 2]
    assert game == anybody.get(f"/api/v1/games/{game['id']}/").json()


def test_a_match_that_no_ladder_rates_says_so(anybody: APIClient, bots) -> None:
    match = make_match(*bots)

    document = anybody.get(f"/api/v1/matches/{match.pk}/").json()

    assert (document["ladder"], document["why"]) == (None, None)
    games = anybody.get("/api/v1/games/").json()["results"]
    assert [game["ladder"] for game in games] == [None]


def test_a_match_says_why_it_was_made(anybody: APIClient, bots) -> None:
    match = make_match(*bots)
    pair(make_ladder(), match)

    document = anybody.get(f"/api/v1/matches/{match.pk}/").json()

    assert document["why"]["rule"] == "nearest"
    assert document["seed"] == SEED
    assert [game["index"] for game in document["games"]] == [0]


def test_rows_are_written_as_the_framework_writes_them(bots) -> None:
    make_match(*bots, games=2, finished=1)
    Game.objects.filter(status=GameStatus.FINISHED).update(reason="last_standing")
    make_match(*bots, finished=0)

    for rows, serializer in (
        (visibility.games(), GameSerializer()),
        (visibility.matches(), MatchSerializer()),
    ):
        plain = type("Plain", (type(serializer),), {})()
        plain.to_representation = partial(ModelSerializer.to_representation, plain)
        for field in plain.fields.values():
            if isinstance(field, ListSerializer):
                child = field.child
                write = partial(ModelSerializer.to_representation, child)
                child.to_representation = write
        for row in rows:
            assert serializer.to_representation(row) == plain.to_representation(row)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("?bot=anas", 2),
        ("?bot=bens&status=finished", 2),
        ("?status=scheduled", 1),
        ("?ladder=main", 1),
        ("?ladder=other", 0),
        ("?bot=anas&limit=1", 1),
    ],
)
def test_games_are_filtered(anybody: APIClient, bots, query: str, count: int) -> None:
    third = make_bot("Third", "cleo")
    pair(make_ladder(), make_match(*bots))
    make_match(*bots)
    make_match(bots[1], third, finished=0)

    results = anybody.get(f"/api/v1/games/{query}").json()["results"]

    assert len(results) == count


@pytest.mark.parametrize(
    "query", ["bot=nobody", "status=odd", "match=x", "match=-1", "b=1"]
)
@pytest.mark.parametrize("address", ["games", "matches"])
def test_a_bad_filter_is_refused_by_name(
    anybody: APIClient, address: str, query: str
) -> None:
    answer = anybody.get(f"/api/v1/{address}/?{query}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == query.split("=", maxsplit=1)[0]


@pytest.mark.parametrize("address", ["games", "matches"])
def test_a_ladder_that_does_not_exist_has_no_games(
    anybody: APIClient, bots, address: str
) -> None:
    make_match(*bots)

    answer = anybody.get(f"/api/v1/{address}/?ladder=none")

    assert answer.status_code == 200
    assert answer.json()["results"] == []


def test_pages_of_games_stay_the_same_while_games_are_added(
    anybody: APIClient, bots
) -> None:
    matches = [make_match(*bots, finished=0) for _ in range(5)]
    page = anybody.get("/api/v1/games/?limit=2").json()
    make_match(*bots, finished=0)
    seen = [game["match"] for game in page["results"]]
    while page["next"]:
        page = anybody.get(page["next"]).json()
        seen += [game["match"] for game in page["results"]]

    assert seen == [match.pk for match in reversed(matches)]


def test_a_list_of_any_length_needs_the_same_number_of_queries(
    anybody: APIClient, bots, django_assert_max_num_queries
) -> None:
    season = make_ladder()
    for _ in range(6):
        pair(season, make_match(*bots, games=2, finished=0))

    with django_assert_max_num_queries(4):
        assert len(anybody.get("/api/v1/games/").json()["results"]) == 12
    with django_assert_max_num_queries(5):
        assert len(anybody.get("/api/v1/matches/").json()["results"]) == 6


def test_a_replay_can_be_verified_and_cached(anybody: APIClient, bots) -> None:
    game = make_match(*bots).games.get()
    address = f"/api/v1/games/{game.pk}/replay/"

    answer = anybody.get(address)
    again = anybody.get(address, HTTP_IF_NONE_MATCH=f'"x", W/{answer["ETag"]}')

    verify(json.loads(answer.content))
    assert answer["Content-Type"] == "application/json"
    assert json.loads(answer.content)["seed"] == SEED
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("status", "http", "code"),
    [
        ("scheduled", 409, "not-over"),
        ("running", 409, "not-over"),
        ("dead", 404, "no-replay"),
        ("cancelled", 404, "no-replay"),
    ],
)
def test_without_a_result_there_is_no_replay(
    anybody: APIClient, bots, status: str, http: int, code: str
) -> None:
    game = make_match(*bots, finished=0).games.get()
    values = {"lease_until": game.created_at} if status == "running" else {}
    if status == "running":
        factories.Worker.objects.get_or_create(name="w:1:1", host="w")
        values["owner"] = factories.Worker.objects.get()
        values["started_at"] = game.created_at
    Game.objects.filter(pk=game.pk).update(status=status, **values)

    answer = anybody.get(f"/api/v1/games/{game.pk}/replay/")

    assert (answer.status_code, answer.json()["code"]) == (http, code)


@pytest.mark.parametrize("who", ["", "ana", "ben", "cleo"])
def test_the_seed_and_the_decks_stay_secret_until_the_match_is_over(
    api, bots, who: str
) -> None:
    match = make_match(*bots, games=2, finished=1)
    first = match.games.get(index=0)
    client = api(who)
    answers = [
        client.get(f"/api/v1/games/{first.pk}/replay/"),
        client.get(f"/api/v1/matches/{match.pk}/"),
        client.get("/api/v1/matches/"),
        client.get(f"/api/v1/games/{first.pk}/"),
        client.get("/api/v1/games/"),
    ]

    assert answers[0].status_code == 409
    for answer in answers:
        assert SEED not in answer.content.decode()
        assert "decks" not in answer.json()

    factories.play(match.games.get(index=1))
    assert client.get(f"/api/v1/games/{first.pk}/replay/").status_code == 200
    assert client.get(f"/api/v1/matches/{match.pk}/").json()["seed"] == SEED


def test_logs_and_notes_are_for_the_owner_of_the_seat(api, bots) -> None:
    game = make_match(*bots).games.get()
    Seat.objects.filter(number=1).update(fault="crash", fault_detail="ben's secret")
    address = f"/api/v1/games/{game.pk}/logs/"

    mine = api("ana").get(address)

    assert [(row["seat"], row["bot"]) for row in mine.json()] == [(0, "anas")]
    assert "stderr of anas" in mine.content.decode()
    assert "bens" not in mine.content.decode()
    assert "secret" in api("ben").get(address).content.decode()
    assert api("cleo").get(address).status_code == 403
    assert api("").get(address).status_code == 401


def test_a_seat_without_output_has_an_empty_log(ana: APIClient, bots) -> None:
    game = make_match(*bots).games.get()
    factories.SeatLog.objects.all().delete()

    log = ana.get(f"/api/v1/games/{game.pk}/logs/").json()[0]

    assert (log["seat"], log["stderr"], log["notes"]) == (0, "", [])


@pytest.mark.parametrize("who", ["", "ana", "cleo"])
def test_public_documents_contain_nothing_private(api, bots, who: str) -> None:
    match = make_match(*bots)
    game = match.games.get()
    Seat.objects.filter(number=1).update(fault="crash", fault_detail="ben's secret")
    client = api(who)

    for address in (
        "games/",
        f"games/{game.pk}/",
        "matches/",
        f"matches/{match.pk}/",
        f"games/{game.pk}/replay/",
    ):
        text = client.get(f"/api/v1/{address}").content.decode()
        assert "stderr of" not in text
        assert "note of" not in text
        assert "secret" not in text


def test_a_voided_game_keeps_its_replay(anybody: APIClient, bots) -> None:
    game = make_match(*bots).games.get()
    failure = "OSError: [Errno 28] No space left on device: '/srv/torres/scratch'"
    Game.objects.update(status=GameStatus.DEAD, note=failure)
    dead = anybody.get(f"/api/v1/games/{game.pk}/").content.decode()
    page = anybody.get(f"/games/{game.pk}/").content.decode()
    assert "Errno" not in dead + page
    assert "/srv" not in dead + page
    assert "failed too often" in dead
    assert "failed too often" in page

    Game.objects.update(status=GameStatus.VOIDED, note="wrong rules")

    assert anybody.get(f"/api/v1/games/{game.pk}/replay/").status_code == 200
    assert anybody.get(f"/api/v1/games/{game.pk}/").json()["note"] == "wrong rules"
