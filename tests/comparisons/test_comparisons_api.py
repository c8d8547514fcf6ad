"""Comparisons over REST: only the owner of a bot starts, sees and cancels them."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from ladder.bots.models import Bot
from ladder.extras.comparisons import services
from ladder.extras.comparisons.models import VersionComparison
from ladder.games.models import Game
from tests.comparisons.factories import (
    begun,
    bot,
    finish_all,
    ladder,
    new_wins,
    old_wins,
    play_out,
    tick,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
LIST = "/api/v1/bots/grendel/comparisons/"


def started(client: Any, **body: Any) -> Any:
    return client.post(LIST, {"ladder": "main", **body}, format="json")


def test_the_owner_starts_a_comparison_and_reads_its_figures(ana) -> None:
    bot()
    ladder()

    answer = started(ana)
    assert answer.status_code == 201, answer.json()
    address = answer["Location"]
    document = answer.json()
    assert document["comparison"] | {"created_at": ""} == {
        "id": VersionComparison.objects.get().pk,
        "bot": "grendel",
        "new": 2,
        "old": 1,
        "ladder": "main",
        "seats": [2],
        "error": 0.05,
        "max_games": 1000,
        "status": "running",
        "note": "",
        "created_at": "",
        "ended_at": None,
    }
    figures = document["figures"]
    assert figures["bounds"] == [0, 50]
    assert figures["expected_games"]["worst"] == pytest.approx(418.6, abs=0.1)
    assert figures["llr_bounds"] == pytest.approx([-2.944, 2.944], abs=0.001)
    assert (figures["blocks"], figures["effect"]) == (0, None)
    assert document["games_left"] == pytest.approx(418.6, abs=0.1)

    tick(slots=1)
    finish_all(old_wins)
    tick(slots=0)
    document = ana.get(address).json()
    assert document["figures"]["blocks"] == 1
    assert document["figures"]["e_value"]["worse"] > 1
    (block,) = document["hurt_by"]
    games = list(Game.objects.order_by("pk").values_list("pk", flat=True))
    assert block == {"block": 1, "score": 0.0, "seats": 2, "games": games}
    for game in games:
        assert ana.get(f"/api/v1/games/{game}/").status_code == 200
    (row,) = ana.get(LIST).json()["results"]
    assert row["status"] == "running"
    matches = ana.get("/api/v1/matches/?kind=comparison").json()["results"]
    assert [match["ladder"] for match in matches] == [None]


def test_the_result_stays_when_it_has_ended(ana) -> None:
    row = play_out(begun(), new_wins)

    document = ana.get(f"/api/v1/comparisons/{row.pk}/").json()
    assert document["comparison"]["status"] == "decided"
    assert document["comparison"]["ended_at"]
    assert document["figures"]["verdict"] == "better"
    assert document["figures"]["effect"]["interval"][0] > 0.5
    assert document["games_left"] is None


def test_the_owner_cancels_a_comparison_once(ana) -> None:
    row = begun()

    answer = ana.post(f"/api/v1/comparisons/{row.pk}/cancel/")
    assert answer.json()["comparison"]["status"] == "cancelled"
    again = ana.post(f"/api/v1/comparisons/{row.pk}/cancel/")
    assert (again.status_code, again.json()["code"]) == (409, "wrong-state")


def test_nobody_else_sees_it(ana, ben, anybody) -> None:
    row = begun()

    for address in (LIST, f"/api/v1/comparisons/{row.pk}/"):
        assert ben.get(address).status_code == 404
        assert anybody.get(address).status_code == 401
    cancel = f"/api/v1/comparisons/{row.pk}/cancel/"
    assert ben.post(cancel).status_code == 404
    assert anybody.post(cancel).status_code == 401
    assert started(ben).status_code == 404
    assert started(anybody).status_code == 401
    row.refresh_from_db()
    assert row.status == "running"


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ({"ladder": "nope"}, "invalid", "There is no ladder"),
        ({"ladder": None}, "invalid", "ladder"),
        ({"old": 2}, "bad-comparison", "old: grendel #2 is no older version"),
        ({"old": 9}, "bad-comparison", "old: grendel #9"),
        ({"old": 0}, "invalid", "old"),
        ({"seats": [3]}, "bad-comparison", "games on main have 2 seats, not 3"),
        ({"seats": [5]}, "invalid", "seats"),
        ({"seats": [2] * 9}, "invalid", "seats"),
        ({"bounds": [50, 0]}, "bad-comparison", "the smaller one first"),
        ({"bounds": [0, 0]}, "bad-comparison", "the smaller one first"),
        ({"bounds": ["NaN", 1]}, "invalid", "bounds"),
        ({"bounds": [0]}, "invalid", "bounds"),
        ({"bounds": [0, 1e9]}, "invalid", "bounds"),
        ({"error": 0.5}, "bad-comparison", "error: use a probability"),
        ({"error": "NaN"}, "invalid", "error"),
        ({"error": 0}, "invalid", "error"),
        ({"max_games": 10}, "invalid", "max_games"),
        ({"max_games": 10**9}, "invalid", "max_games"),
    ],
    ids=str,
)
def test_a_bad_comparison_is_refused_with_its_reason(ana, body, code, says) -> None:
    bot()
    ladder()

    answer = started(ana, **body)
    assert answer.status_code in (400, 422), answer.content
    assert answer.json()["code"] == code
    assert says in answer.content.decode()
    assert not VersionComparison.objects.exists()


def test_one_version_or_a_withdrawn_bot_cannot_be_compared(ana) -> None:
    row = bot(versions=1)
    ladder()
    answer = started(ana)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-comparison")
    assert "no older version that was ready" in answer.json()["detail"]

    Bot.objects.filter(pk=row.pk).update(status="withdrawn")
    assert "it is withdrawn" in started(ana).json()["detail"]


def test_a_version_without_files_cannot_play(ana, data_dir) -> None:
    row = bot()
    ladder()
    old = row.submissions.get(number=1)
    (data_dir / "submissions" / old.package).unlink()

    assert started(ana).json()["code"] == "cannot-play"


def test_an_older_version_can_be_chosen(ana) -> None:
    bot(versions=3)
    ladder()

    assert started(ana).json()["comparison"]["old"] == 2
    VersionComparison.objects.update(status="cancelled", ended_at="2026-01-01T00:00Z")
    assert started(ana, old=1).json()["comparison"]["old"] == 1


def test_each_owner_has_a_quota(ana, ben, monkeypatch) -> None:
    bot()
    bot("Rival", "ben")
    ladder()
    monkeypatch.setattr(services, "MAX_COMPARISONS", 2)

    first = started(ana)
    running = started(ana)
    assert (running.status_code, running.json()["code"]) == (429, "too-many")
    assert "is running" in running.json()["detail"]
    ana.post(f"{first['Location']}cancel/")
    ana.post(f"{started(ana)['Location']}cancel/")
    over = started(ana)
    assert over.status_code == 429
    assert "2 comparisons in 24 hours" in over.json()["detail"]
    body = {"ladder": "main"}
    rival = ben.post("/api/v1/bots/rival/comparisons/", body, format="json")
    assert rival.status_code == 201


def test_a_deleted_account_leaves_no_comparison_to_read(ana) -> None:
    row = begun()
    User.objects.get(username="ana").delete()
    row.refresh_from_db()

    assert row.by is None
    assert tick() == 0
    row.refresh_from_db()
    assert row.status == "stopped"
