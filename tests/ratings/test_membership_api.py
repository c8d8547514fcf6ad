"""The ladders of a bot over REST: list them, join, leave; and who may do that."""

import pytest

from ladder.bots.models import Bot
from ladder.ratings import memberships, rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder, Membership, Rating, Season
from ladder.ratings.seasons import start_season
from tests.games import factories
from tests.ratings.factories import make_matches, open_games

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
BLITZ = "/api/v1/ladders/blitz/bots/a-1"
MAIN = "/api/v1/ladders/main/bots/a-1"


@pytest.fixture(autouse=True)
def season() -> Season:
    """Return the season of the default ladder. The ladder `blitz` has no bots yet."""
    season = ensure_default_ladder().seasons.get()
    factories.bot("a-1", "ana")
    factories.bot("b-2", "ben")
    rater.welcome(season.pk)
    start_season(
        Ladder.objects.create(
            slug="blitz",
            name="Blitz",
            ruleset="yucata",
            tables={"2": 1},
            limits=factories.LIMITS,
        )
    )
    return season


def places(client) -> dict[str, str]:
    rows = client.get("/api/v1/bots/a-1/ladders/").json()
    return {row["ladder"]: row["status"] for row in rows}


def test_the_owner_chooses_the_ladders(ana, anybody):
    assert places(anybody) == {"main": "active"}
    assert anybody.get(f"{BLITZ}/").json() == {
        "ladder": "blitz",
        "name": "Blitz",
        "default": False,
        "status": None,
        "why": "",
        "can_join": True,
        "can_leave": False,
    }

    joined = ana.post(f"{BLITZ}/join/")
    assert (joined.status_code, joined.json()["status"]) == (200, "active")
    assert joined.json() == anybody.get(f"{BLITZ}/").json()
    assert places(anybody) == {"main": "active", "blitz": "active"}

    left = ana.post(f"{MAIN}/leave/")
    assert (left.status_code, left.json()["status"]) == (200, "left")
    assert ana.post(f"{MAIN}/leave/").status_code == 200
    assert places(anybody) == {"main": "left", "blitz": "active"}


def test_leaving_over_rest_cancels_the_waiting_games(ana, season):
    make_matches(season, 1)
    assert len(open_games()) == 1

    ana.post(f"{MAIN}/leave/")

    assert open_games() == []
    board = ana.get("/api/v1/ladders/main/leaderboard/").json()["results"]
    assert {row["bot"]: row["status"] for row in board} == {
        "a-1": "left",
        "b-2": "active",
    }


@pytest.mark.parametrize("action", ["join", "leave"])
@pytest.mark.parametrize(("who", "status"), [("ben", 403), ("cleo", 403), ("", 401)])
def test_nobody_else_may_choose(api, action: str, who: str, status: int):
    answer = api(who).post(f"{BLITZ}/{action}/")

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert not Membership.objects.filter(ladder__slug="blitz").exists()


@pytest.mark.parametrize("action", ["join", "leave"])
@pytest.mark.parametrize(
    "address", ["ladders/nowhere/bots/a-1", "ladders/main/bots/nobody"]
)
def test_what_does_not_exist_is_not_found(ana, address: str, action: str):
    assert ana.post(f"/api/v1/{address}/{action}/").status_code == 404
    assert ana.get(f"/api/v1/{address}/").status_code == 404
    assert ana.get(f"/api/v1/{address}/{action}/").status_code == 405


def test_refusals_have_a_code(ana):
    answer = ana.post(f"{BLITZ}/leave/")
    assert (answer.status_code, answer.json()["code"]) == (409, "membership-refused")

    Ladder.objects.filter(slug="blitz").update(admission="operators")
    answer = ana.post(f"{BLITZ}/join/")
    assert (answer.status_code, answer.json()["code"]) == (409, "membership-refused")
    assert ana.get("/api/v1/ladders/blitz/").json()["admission"] == "operators"


def test_the_owner_alone_reads_why_a_bot_is_benched(ana, ben, season):
    bot = Bot.objects.get(slug="a-1")
    why = "5 of its latest 10 games were forfeits."
    memberships.bench(season, Rating.objects.get(bot=bot), why)

    assert ana.get(f"{MAIN}/").json()["why"] == why
    assert ben.get(f"{MAIN}/").json()["why"] == ""
    assert ben.get("/api/v1/bots/a-1/ladders/").json()[0]["why"] == ""
    assert ana.get("/api/v1/bots/a-1/ladders/").json()[0]["why"] == why
