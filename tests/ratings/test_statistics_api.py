"""Statistics over REST: records, head to head, tie bands; and challenges."""

import pytest

from ladder.bots.models import Bot
from ladder.games.models import Game, Match, Seat
from ladder.ratings import challenges, rater, summaries
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Rating, Season
from tests.factories import opine
from tests.games import factories
from tests.ratings.factories import finish, make_matches

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
MAIN = "/api/v1/ladders/main"


@pytest.fixture
def season() -> Season:
    """Five bots; the one with the lower number always finishes ahead."""
    season = ensure_default_ladder().seasons.get()
    factories.bot("a-1", "ana")
    factories.bot("b-2", "ben")
    for name in ("c-3", "d-4", "e-5"):
        factories.bot(name)
    rater.welcome(season.pk)
    for _ in range(6):
        make_matches(season, 4)
        for game in Game.objects.filter(status="scheduled"):
            bots = [seat.submission.bot_id for seat in game.seats.all()]
            finish(game, [sorted(bots).index(bot) + 1 for bot in bots])
        rater.fold(season.pk)
    summaries.catch_up(season.pk)
    return season


@pytest.mark.usefixtures("season")
def test_a_record_adds_up(anybody):
    record = anybody.get(f"{MAIN}/bots/a-1/record/").json()

    rating = Rating.objects.get(bot__slug="a-1")
    assert (record["rank"], record["games"]) == (1, rating.games)
    assert sum(cell["games"] for cell in record["strength"]) == rating.games
    assert all(cell["share"] == 1 for cell in record["strength"])
    assert record["low"] < record["mu"] < record["high"]
    assert record["trend"] > 0
    assert record["settling"]


@pytest.mark.usefixtures("season")
def test_two_bots_head_to_head(anybody):
    one = anybody.get(f"{MAIN}/bots/a-1/against/b-2/").json()
    other = anybody.get(f"{MAIN}/bots/b-2/against/a-1/").json()

    both = Seat.objects.filter(submission__bot__slug="a-1").filter(
        game__seats__submission__bot__slug="b-2"
    )
    assert one["games"] == one["before"] == both.count() > 0
    assert (other["before"], other["games"]) == (0, one["games"])
    assert one["better"] > one["chance"] > 0.5
    assert one["chance"] + other["chance"] == pytest.approx(1)
    assert one["low"] < one["apart"] < one["high"]


@pytest.mark.usefixtures("season")
def test_the_list_of_opponents_agrees_with_each_meeting(anybody):
    rows = anybody.get(f"{MAIN}/bots/c-3/against/").json()["results"]
    assert rows
    for row in rows:
        address = f"{MAIN}/bots/c-3/against/{row['other']}/"
        assert anybody.get(address).json() == row


@pytest.mark.usefixtures("season")
def test_opponents_come_in_pages(anybody):
    address = f"{MAIN}/bots/c-3/against/"
    everybody = anybody.get(address).json()

    seen = []
    following = f"{address}?limit=2"
    while following:
        page = anybody.get(following).json()
        assert len(page["results"]) <= 2
        seen += page["results"]
        following = page["next"]

    assert seen == everybody["results"]
    assert len(seen) == everybody["count"] > 2


def test_bands_cover_all_positions(anybody, season):
    Rating.objects.update(sigma=0.5)
    slugs = []
    for place, mu in enumerate((30, 29.5, 20, 19.5, 10)):
        bot = Bot.objects.order_by("pk")[place]
        Rating.objects.filter(season=season, bot=bot).update(mu=mu)
        slugs.append(bot.slug)
    before = anybody.get(f"{MAIN}/bands/").json()
    assert [(b["first"], b["last"]) for b in before] == [(1, 5)]
    possible = [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]
    opine(season, dict(zip(slugs, possible, strict=True)))

    bands = anybody.get(f"{MAIN}/bands/").json()

    assert [(b["first"], b["last"]) for b in bands] == [(1, 2), (3, 4), (5, 5)]


def test_a_history_marks_new_uploads(anybody, season):
    factories.submission(Bot.objects.get(slug="a-1"))
    rater.welcome(season.pk)
    summaries.catch_up(season.pk)

    points = anybody.get(f"{MAIN}/bots/a-1/history/").json()

    marks = [(p["kind"], p["submission"]) for p in points if p["submission"]]
    assert marks == [("join", 1), ("new_version", 2)]


@pytest.mark.parametrize("address", ["bots/none/record/", "bots/a-1/against/none/"])
@pytest.mark.usefixtures("season")
def test_an_unknown_bot_is_not_found(anybody, address):
    assert anybody.get(f"{MAIN}/{address}").status_code == 404


@pytest.mark.usefixtures("season")
def test_a_challenge_changes_no_rating(ana):
    before = Entry.objects.count()
    answer = ana.post(f"{MAIN}/challenges/", {"bots": ["a-1", "c-3"]}, format="json")

    assert answer.status_code == 201
    match = Match.objects.get(kind="challenge")
    assert answer["Location"] == f"/api/v1/matches/{match.pk}/"
    finish(match.games.get(), [1, 2])
    assert rater.fold(Season.objects.get().pk) == 0
    assert Entry.objects.count() == before


@pytest.mark.parametrize(
    ("bots", "says"),
    [
        (["b-2", "c-3"], "yours"),
        (["a-1", "a-1"], "itself"),
        (["a-1", "zoe"], "no bot"),
        (["a-1", "d-4"], "banned"),
    ],
)
@pytest.mark.usefixtures("season")
def test_a_bad_challenge_is_refused_with_its_reason(ana, bots, says):
    Bot.objects.filter(slug="d-4").update(status="banned")

    answer = ana.post(f"{MAIN}/challenges/", {"bots": bots}, format="json")

    assert (answer.status_code, says in answer.json()["detail"]) == (422, True)


@pytest.mark.usefixtures("season")
def test_challenges_have_a_quota_for_each_owner(ana, ben, monkeypatch):
    monkeypatch.setattr(challenges, "MAX_CHALLENGES", 2)
    for expected in (201, 201, 429):
        body = {"bots": ["a-1", "b-2"]}
        answer = ana.post(f"{MAIN}/challenges/", body, format="json")
        assert answer.status_code == expected
    assert ben.post(f"{MAIN}/challenges/", body, format="json").status_code == 201


@pytest.mark.usefixtures("season")
def test_a_challenge_needs_a_signed_in_user(anybody):
    answer = anybody.post(f"{MAIN}/challenges/", {"bots": ["a-1", "b-2"]})

    assert answer.status_code == 401
