"""Second opinions in the service: when they are made, and where they are shown."""

import subprocess
import sys
from datetime import timedelta
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.common.jobs import JobProcess
from ladder.games.models import Game
from ladder.ratings import memberships, rater, season_estimate, second_opinion, voids
from ladder.ratings.corrections import fold_voids
from ladder.ratings.jobs import SECOND_OPINION
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.ledger_reader import MatchResult, match_results
from ladder.ratings.models import (
    Entry,
    Ladder,
    Season,
    SecondOpinion,
    SecondOpinionRow,
)
from ladder.ratings.season_estimate import make_combined_opinion, make_opinion
from ladder.ratings.seasons import start_season
from tests.games import factories
from tests.games.test_kills import environment
from tests.ratings.factories import finish, make_matches
from torres.rating import season_fit
from torres.rating.season_fit import read_season

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
MAIN = "/api/v1/ladders/main"


def play(season: Season, matches: int) -> None:
    """Play matches of bots whose order is that of their ids, with some luck."""
    rng = Random(matches)
    while matches > 0:
        matches -= make_matches(season, 4)
        for game in Game.objects.filter(status="scheduled"):
            bots = [seat.submission.bot_id for seat in game.seats.all()]
            luck = [bot + rng.gauss(0, 1.5) for bot in bots]
            finish(game, [sorted(luck).index(each) + 1 for each in luck])
        rater.fold(season.pk)
        season.refresh_from_db()


@pytest.fixture
def season() -> Season:
    season = ensure_default_ladder().seasons.get()
    for name in ("house-a", "b", "c", "house-d", "e", "f"):
        factories.bot(name)
    Bot.objects.filter(slug__startswith="house").update(house=True)
    rater.welcome(season.pk)
    season.refresh_from_db()
    return season


def test_it_ranks_the_bots_and_says_from_what(season, anybody):
    play(season, 48)
    opinion = make_opinion(season)

    answer = anybody.get(f"{MAIN}/second-opinion/?limit=4").json()

    assert answer["seq"] == season.head == opinion.seq
    assert answer["games"] == Entry.objects.filter(kind="game").count()
    assert answer["anchors"] == ["house-a", "house-d"]
    assert answer["count"] == 6
    assert "page=2" in answer["next"]
    rows = answer["results"] + anybody.get(answer["next"]).json()["results"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6]
    values = {row["bot"]: row["value"] for row in rows}
    assert values == dict(sorted(values.items(), key=lambda item: -item[1]))
    assert values["house-a"] + values["house-d"] == pytest.approx(0, abs=1e-9)
    assert values["b"] > values["f"]
    for row in rows:
        assert 1 <= row["best"] <= row["rank"] <= row["worst"] <= 6
        assert row["low"] < row["value"] < row["high"]
    assert sum(row["top"] for row in rows) == pytest.approx(3)


def test_voided_games_and_newcomers_are_left_out(season):
    play(season, 40)
    newest = Entry.objects.filter(kind="game").order_by("-seq").first()
    voids.void(newest.game_id, "a test", replay_again=False)
    fold_voids(season.pk)
    factories.bot("late")
    rater.welcome(season.pk)
    season.refresh_from_db()

    opinion = make_opinion(season)

    assert opinion.games == Entry.objects.filter(kind="game").count() - 1
    assert not opinion.rows.filter(bot__slug="late").exists()


def test_one_is_made_when_the_ledger_has_grown(season):
    assert second_opinion.due_seasons() == []
    play(season, second_opinion.MIN_ENTRIES)
    with CaptureQueriesContext(connection) as queries:
        assert second_opinion.due_seasons() == [season]
    assert len(queries) == 1

    SECOND_OPINION.run()
    play(season, 4)
    SecondOpinion.objects.update(seconds=2.9)
    assert second_opinion.due_seasons() == []  # too young
    half_a_minute_ago = timezone.now() - second_opinion.MIN_AGE
    SecondOpinion.objects.update(created_at=half_a_minute_ago)
    assert second_opinion.due_seasons() == [season]
    SecondOpinion.objects.update(seconds=6)
    assert second_opinion.due_seasons() == []  # it takes more than a tenth of the time
    SecondOpinion.objects.update(created_at=half_a_minute_ago - timedelta(seconds=30))
    assert second_opinion.due_seasons() == [season]
    SecondOpinion.objects.update(seq=season.head)
    assert second_opinion.due_seasons() == []
    assert not SECOND_OPINION.is_due()


def test_old_ones_are_thinned_out_by_the_growth_of_the_ledger(season, monkeypatch):
    monkeypatch.setattr(second_opinion, "KEPT_GROWTH", 1.15)
    for growth in (40, 1, 1, 1, 1, 1, 1):
        play(season, growth)
        make_opinion(season)

    kept = list(SecondOpinion.objects.order_by("seq").values_list("seq", flat=True))
    assert kept[-1] == season.head
    assert 3 <= len(kept) < 7
    for earlier, later in pairwise(kept[:-1]):
        assert later >= earlier * 1.15


def test_bots_of_one_owner_and_copies_share_one_vote(season):
    one, two, three, _ = Bot.objects.filter(house=False).order_by("pk")
    Bot.objects.filter(pk=two.pk).update(owner=one.owner)
    play(season, 60)
    plain = make_opinion(season)
    second_opinion.keep_copies(season, [(three.pk, two.pk)])
    season.refresh_from_db()
    read = read_season(match_results(season.pk, season.head))
    voters = season_estimate._voters(read.submissions, season.copies)

    assert {row.weighted != row.value for row in plain.rows.all()} == {True}
    voices = {voter.bot: voter.voice for voter in voters}
    assert voices[one.pk] == voices[two.pk] == voices[three.pk]
    assert len(set(voices.values())) == 4


def test_a_second_process_stores_nothing(season):
    play(season, 20)

    assert make_opinion(season) is not None
    assert make_opinion(season) is None
    assert SecondOpinion.objects.count() == 1


def test_the_history_of_a_bot(season, anybody):
    play(season, 40)
    make_opinion(season)
    play(season, 12)
    make_opinion(season)

    points = anybody.get(f"{MAIN}/bots/b/second-opinion/").json()

    assert [point["seq"] for point in points] == sorted(
        SecondOpinion.objects.values_list("seq", flat=True)
    )
    assert points[0]["games"] < points[1]["games"]
    assert anybody.get(f"{MAIN}/bots/nobody/second-opinion/").status_code == 404
    assert anybody.get(f"{MAIN}/second-opinion/?season=7").status_code == 404
    assert anybody.get(f"{MAIN}/second-opinion/?x=7").status_code == 400


def test_before_the_first_one_the_answer_is_empty(season, anybody):
    answer = anybody.get(f"{MAIN}/second-opinion/").json()

    assert (answer["seq"], answer["count"], answer["results"]) == (None, 0, [])
    assert anybody.get(f"{MAIN}/bots/b/second-opinion/").json() == []
    assert "too few games" in anybody.get("/ladders/main/").content.decode()


def test_leaderboards_and_the_page_of_a_bot_show_it(season, anybody):
    play(season, 40)
    make_opinion(season)
    row = SecondOpinionRow.objects.get(bot__slug="b")

    page = anybody.get("/ladders/main/?figures=all").content.decode()

    assert f"{row.best} to {row.worst}" in page
    assert "too few games" not in page
    joint = anybody.get(f"{MAIN}/leaderboard/").json()
    found = {each["bot"]: each["joint"] for each in joint["results"]}["b"]
    assert joint["joint_seq"] == season.head
    assert found["low"] < found["value"] == row.value < found["high"]
    assert [found["best"], found["worst"]] == [row.best, row.worst]
    assert anybody.get(f"{MAIN}/bots/b/record/").json()["joint"] == found


def test_games_of_one_match_are_one_block():
    games = [
        MatchResult(k, k // 2, [(70, 1), (80, 2)] if k % 3 else [(80, 1), (90, 1)])
        for k in range(9)
    ]

    read = read_season(games)

    assert read.results.blocks.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert read.submissions == [80, 90, 70]
    assert read.played.tolist() == [9, 3, 6]


def test_seats_of_submissions_that_stopped_long_ago_are_left_out(monkeypatch):
    monkeypatch.setattr(season_fit, "MAX_SUBMISSIONS", 3)
    games = [
        MatchResult(1, 1, [(20, 1), (30, 2)]),
        MatchResult(2, 2, [(30, 3), (10, 2), (40, 1)]),
        MatchResult(3, 3, [(50, 2), (40, 1)]),
    ]

    read = read_season(games)

    assert read.submissions == [30, 40, 50]
    assert read.results.seats.tolist() == [[0, -1, 1, -1], [2, 1, -1, -1]]
    assert read.played.tolist() == [1, 2, 1]


def second_ladder(bots: list[Bot]) -> Season:
    """Start a ladder with another edition, on which these bots play."""
    ladder = Ladder.objects.create(
        slug="master",
        name="Master",
        ruleset="rio-grande-1999-master",
        tables={"2": 1},
        limits=factories.LIMITS,
    )
    season = start_season(ladder)
    for each in bots:
        memberships.join(each, ladder)
    rater.welcome(season.pk)
    season.refresh_from_db()
    return season


def test_strengths_over_all_ladders_give_each_edition_the_same_weight(
    season, anybody, monkeypatch
):
    play(season, 60)
    assert make_combined_opinion().rows.count() == 0  # there is one ladder
    assert not second_opinion.is_combined_due()
    *both, _, _ = Bot.objects.order_by("pk")
    other = second_ladder(both)
    play(other, 80)
    assert not second_opinion.is_combined_due()  # the last one is too young
    ten_minutes_ago = timezone.now() - second_opinion.COMBINED_MIN_AGE
    SecondOpinion.objects.update(created_at=ten_minutes_ago)
    assert second_opinion.is_combined_due()
    weighted = []
    monkeypatch.setattr(
        season_estimate,
        "weighted_equally",
        lambda *given: (
            weighted.append(season_fit.weighted_equally(*given)) or weighted[-1]
        ),
    )

    SECOND_OPINION.run()

    opinion = second_opinion.latest(None)
    assert opinion.seq == season.head + other.head
    games = [Entry.objects.filter(kind="game", season=each) for each in (season, other)]
    assert opinion.games == sum(each.count() for each in games)
    (results,) = weighted
    matches = Game.objects.filter(pk__in=games[0].values("game")).values("match")
    here = np.isin(results.blocks, list(matches.values_list("match", flat=True)))
    assert results.weights[here].sum() == pytest.approx(results.weights[~here].sum())
    answer = anybody.get("/api/v1/strengths/?limit=3").json()
    rows = answer["results"] + anybody.get(answer["next"]).json()["results"]
    assert {row["bot"] for row in rows} == {bot.slug for bot in both}
    chances = [row["duel"] for row in rows]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(len(rows) / 2)
    page = anybody.get("/ladders/").content.decode()
    assert all(f'/bots/{bot.slug}/"' in page for bot in both)
    assert not second_opinion.is_combined_due()


@pytest.mark.django_db(transaction=True)
def test_the_dispatcher_starts_a_process_for_it(season, monkeypatch):
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    play(season, second_opinion.MIN_ENTRIES)
    process = JobProcess(SECOND_OPINION)

    process.ensure()
    assert process.child is not None
    assert process.child.wait(120) == 0

    assert SecondOpinion.objects.get().rows.count() == 6
    process.close()


def test_the_web_server_does_not_import_numpy():
    code = (
        "import django, sys; django.setup(); import ladder.urls;"
        " print('numpy' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=environment() | {"DJANGO_SETTINGS_MODULE": "ladder.settings"},
        cwd=settings.BASE_DIR,
        check=True,
        capture_output=True,
        text=True,
    )
    assert printed.stdout.strip() == "False"
