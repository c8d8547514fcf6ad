"""Analyses as a service: requests, quotas, the real process, REST and pages."""

import html
import json
import re
import signal
import subprocess
import sys
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from engine import turning_points
from engine.position_text import text_of
from engine.replay import game_at
from ladder.accounts import tokens
from ladder.common.jobs import JobProcess
from ladder.dispatch import retention
from ladder.dispatch.changes import ChangeDetector
from ladder.extras.analysis import selectors, services, work
from ladder.extras.analysis.jobs import ANALYSE_GAMES
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.extras.analysis.services import request_analysis
from ladder.games import visibility
from ladder.games.models import Game, Match
from ladder.games.worker import lease_keeper
from tests.conftest import needs_compiled
from tests.factories import make_bot, make_match
from tests.games.test_kills import environment
from tests.practice.factories import until
from torres.common.errors import LadderError, TooMany

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
TIMEOUT_S = 600


@pytest.fixture
def game() -> Game:
    """Return a finished game of two bots that played at random."""
    match = make_match(make_bot("one", "ana"), make_bot("two", "ben"))
    return match.games.get()


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "GAMES", 2)


def person(name: str = "ana") -> User:
    return User.objects.get(username=name)


def replay_of(game: Game) -> dict[str, Any]:
    replay: dict[str, Any] = json.loads(visibility.replay(game))
    return replay


def test_a_request_waits_and_the_second_one_is_free(game, settings) -> None:
    settings.TORRES_ANALYSES_PER_DAY = 1

    first = request_analysis(person(), game)
    again = request_analysis(person(), game)
    others = request_analysis(person("ben"), game)

    assert first.status == "waiting"
    assert first.pk == again.pk == others.pk
    assert selectors.left_today(person("ben")) == 1
    with pytest.raises(TooMany, match="The limit is 1 analyses in 24 hours"):
        request_analysis(person(), game, 5)
    Analysis.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert request_analysis(person(), game, 5).ply == 5


@needs_compiled
def test_the_result_is_that_of_the_engine(game) -> None:
    request_analysis(person(), game)
    ply = turning_points.analyse(replay_of(game), 2)["turns"][-2]["ply"]
    request_analysis(person(), game, ply)

    assert work.work_off() == 2

    whole = selectors.whole_game(game)
    assert whole is not None
    assert whole.status == "finished"
    assert whole.document == turning_points.analyse(replay_of(game), 2)
    row = selectors.what_if(game, ply, [])
    assert row is not None
    assert row.document == turning_points.what_if(replay_of(game), ply, games=2)
    assert work.work_off() == 0


def test_what_if_shows_an_estimate_while_it_is_computed(
    game, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    address = f"/games/{game.pk}/what-if/?ply=5"

    def look(status: AnalysisStatus, **values: object) -> dict[str, object]:
        row = request_analysis(person(), game, 5)
        shown = text(Client(), address)
        seen.append(
            (row.status, "estimate from few games" in shown, "And then?" in shown)
        )
        api = Client().get(f"/api/v1/analyses/{row.pk}/").json()
        assert (api["status"], api["document"]) == ("running", None)
        return ended(status, **values)

    ended = work._end
    monkeypatch.setattr(work, "_end", look)
    request_analysis(person(), game, 5)
    work.work_off()

    assert seen == [("running", True, True)]
    assert "estimate from few games" not in text(Client(), address)


@pytest.mark.parametrize(
    ("ply", "line", "why"),
    [(99_999, [], "there is no ply"), (5, ["fly a1"], "action 1 of the line")],
)
def test_a_position_that_does_not_exist_costs_nothing(game, ply, line, why) -> None:
    with pytest.raises(services.BadAnalysis, match=why):
        request_analysis(person(), game, ply, line)

    assert not Analysis.objects.exists()


def test_a_game_whose_decks_are_in_use_is_not_analysed() -> None:
    one, two = make_bot("one", "ana"), make_bot("two", "ben")
    game = make_match(one, two, games=2, finished=1).games.get(index=0)

    with pytest.raises(LadderError, match="same decks"):
        request_analysis(person(), game)


def test_it_can_be_switched_off(game, settings) -> None:
    known = request_analysis(person(), game)
    settings.TORRES_ANALYSES_PER_DAY = 0

    with pytest.raises(services.AnalysisIsOff, match="torres analyse"):
        request_analysis(person(), game, 5)
    assert request_analysis(person("ben"), game) == known


@needs_compiled
def test_a_failure_is_shown_and_may_be_requested_again(game, monkeypatch) -> None:
    analysis = request_analysis(person(), game)
    request_analysis(person(), game, 5)
    with monkeypatch.context() as patch:
        patch.setattr(work, "analyse", lambda *_: 1 / 0)
        assert work.work_off() == 2  # the next one is computed in spite of it

    analysis.refresh_from_db()
    assert (analysis.status, analysis.note) == ("failed", work.FAILED)
    assert Analysis.objects.get(ply=5).status == "finished"
    again = request_analysis(person("ben"), game)
    assert (again.pk, again.status, again.by) == (analysis.pk, "waiting", person("ben"))
    work.work_off()
    analysis.refresh_from_db()
    assert analysis.status == "finished"


def test_an_analysis_whose_processes_die_fails_after_three_attempts(game) -> None:
    analysis = request_analysis(person(), game)

    for _ in range(selectors.MAX_ATTEMPTS):
        claimed = work.claim()
        assert claimed is not None
        assert work.claim() is None  # it has a lease
        Analysis.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert work.claim() is None
    analysis.refresh_from_db()
    assert analysis.status == "failed"


def test_a_late_process_does_not_overwrite_the_result(game, monkeypatch) -> None:
    request_analysis(person(), game)
    late = work.claim()
    assert late is not None
    Analysis.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert work.work_off() == 1
    kept = Analysis.objects.get().document

    monkeypatch.setattr(work, "analyse", lambda *_: {"late": True})
    work.compute(late)

    assert Analysis.objects.get().document == kept


def test_the_dispatcher_notices_a_request(game) -> None:
    detector = ChangeDetector()
    detector.find_work()
    before = detector.find_work()

    request_analysis(person(), game)

    assert (before.jobs, detector.find_work().jobs) == (False, True)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@needs_compiled
def test_the_process_computes_what_waits_after_another_was_killed(
    game, monkeypatch
) -> None:
    request_analysis(person(), game, 100)  # it takes seconds
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    command = [
        sys.executable,
        django_settings.BASE_DIR / "manage.py",
        "run_job",
        "analyse_games",
    ]
    killed = subprocess.Popen(command)
    while Analysis.objects.get().status == "waiting":
        assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait(TIMEOUT_S)
    assert Analysis.objects.get().status == "running"
    process = JobProcess(ANALYSE_GAMES)
    assert not ANALYSE_GAMES.is_due()  # as long as the lease of the killed one

    Analysis.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert ANALYSE_GAMES.is_due()
    process.ensure()
    child = process.child
    assert child is not None
    assert child.wait(TIMEOUT_S) == 0
    process.ensure()

    analysis = Analysis.objects.get()
    assert (analysis.status, analysis.attempts) == ("finished", 2)
    assert analysis.document["alternatives"]
    assert not ANALYSE_GAMES.is_due()
    process.close()


def test_old_analyses_are_deleted(game) -> None:
    request_analysis(person(), game)
    work.work_off()
    request_analysis(person(), game, 5)
    Analysis.objects.filter(ply=None).update(
        ended_at=timezone.now() - timedelta(days=366)
    )
    [rule] = [each for each in retention.rules() if each.name == "analyses"]

    assert rule.delete(10) == 3  # with the reviews of two seats
    assert Analysis.objects.get().ply == 5


# Over REST.


def client_of(name: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens.token_for(name)}")
    return client


@needs_compiled
def test_rest_requests_and_shows_an_analysis(game) -> None:
    ana = client_of("ana")
    route = f"/api/v1/games/{game.pk}/analyses/"

    answer = ana.post(route, {}, format="json")
    assert answer.status_code == 202
    assert answer.json()["document"] is None
    work.work_off()

    shown = APIClient().get(answer["Location"]).json()
    assert shown["status"] == "finished"
    assert shown["document"]["format"] == "torres-analysis/1"
    assert ana.post(route, {}, format="json").status_code == 200
    listed = APIClient().get(route).json()["results"]
    assert [row["id"] for row in listed] == [shown["id"]]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"ply": 10**9}, 400, "invalid"),
        ({"ply": "x"}, 400, "invalid"),
        ({"ply": 3, "line": ["x" * 61]}, 400, "invalid"),
        ({"ply": 3, "line": ["end"] * 65}, 400, "invalid"),
        ({"ply": 3, "line": ["\0"]}, 400, "invalid"),
        ({"ply": 50_000}, 422, "bad-analysis"),
        ({"ply": 3, "line": ["fly a1"]}, 422, "bad-analysis"),
    ],
)
def test_rest_refuses_what_cannot_be(game, body, status, code) -> None:
    route = f"/api/v1/games/{game.pk}/analyses/"

    answer = client_of("ana").post(route, body, format="json")

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.json()
    assert not Analysis.objects.exists()


def test_nobody_sees_the_analysis_of_a_hidden_game(game) -> None:
    analysis = request_analysis(person(), game)
    Match.objects.update(embargo=True)

    for address in (
        f"/api/v1/analyses/{analysis.pk}/",
        f"/api/v1/games/{game.pk}/analyses/",
        f"/games/{game.pk}/analysis/",
        f"/games/{game.pk}/what-if/?ply=3",
    ):
        assert Client().get(address).status_code == 404, address
    work.work_off()
    analysis.refresh_from_db()
    assert analysis.status == "failed"


# Pages.


def visit(name: str) -> Client:
    client = Client()
    client.post("/sign-in/", {"token": tokens.token_for(name)})
    return client


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


@needs_compiled
def test_the_page_offers_waits_and_shows(game) -> None:
    ana = visit("ana")
    address = f"/games/{game.pk}/analysis/"
    assert "Sign in</a> to request" in text(Client(), address)
    assert "You can request 20 more" in text(ana, address)

    answer = ana.post(f"/games/{game.pk}/analyse/")
    assert (answer.status_code, answer["Location"]) == (302, address)
    assert "number 1 in the queue" in text(ana, address)
    work.work_off()

    page = text(Client(), address)
    swings = Analysis.objects.get().document["swings"]
    assert page.count("What if?<span") >= len(swings)
    assert page.count("<polyline") == 2
    assert "Luck of the draw" in page
    assert "All turns of this game" in text(Client(), f"/games/{game.pk}/")


@needs_compiled
def test_the_viewer_gets_a_mark_for_each_turning_point(game) -> None:
    analysis = request_analysis(person(), game)
    work.work_off()
    analysis.refresh_from_db()
    document = analysis.document
    document["turning_points"] = [1, 3]
    analysis.save()

    page = text(Client(), f"/games/{game.pk}/")

    found = re.search(r'<script id="turning-points"[^>]*>(.*?)</script>', page)
    assert found is not None
    marks = json.loads(found[1])
    assert [mark["ply"] for mark in marks] == [
        document["swings"][1]["ply"],
        document["swings"][3]["ply"],
    ]


@needs_compiled
def test_a_better_turn_is_shown_with_a_way_to_its_board(game) -> None:
    analysis = request_analysis(person(), game)
    work.work_off()
    analysis.refresh_from_db()
    document = analysis.document
    ply = document["swings"][1]["ply"]
    action = turning_points.position_after(replay_of(game), ply, []).legal()[0]
    document["turning_points"] = [1]
    better = {"played": ["end"], "actions": [action], "chance": 0.75}
    document["better"] = [{"ply": ply, "lead": 4.0, "error": 0.01} | better]
    analysis.save()

    for address in (f"/games/{game.pk}/", f"/games/{game.pk}/analysis/"):
        page = text(Client(), address)
        assert f'Better: <span data-turn="{action}">' in page
        assert "keeps a chance of 75" in page
        (query,) = re.findall(r'what-if/(\?ply=[^"]+line=[^"]+)"', page)
        there = f"/games/{game.pk}/what-if/{query.replace('&amp;', '&')}"
        assert f"<code>{action}</code>" in text(Client(), there)


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_an_analysis_runs(game, monkeypatch) -> None:
    request_analysis(person(), game)
    analysis = work.claim()
    assert analysis is not None
    before = Analysis.objects.get().lease_until

    def slow(*_: object) -> tuple[dict[str, Any], list[Any]]:
        until(lambda: Analysis.objects.get().lease_until > before)
        return {"note": "slow"}, []

    monkeypatch.setattr(lease_keeper, "RENEW_INTERVAL_S", 0)
    monkeypatch.setattr(work, "_result", slow)
    work.compute(analysis)

    assert Analysis.objects.get().note == "slow"


def test_what_if_goes_from_a_position_to_the_next(game) -> None:
    ana = visit("ana")
    ply = turning_points.analyse(replay_of(game), 2)["turns"][-2]["ply"]
    address = f"/games/{game.pk}/what-if/?ply={ply}"

    answer = ana.post(f"/games/{game.pk}/analyse/", {"ply": ply})
    assert answer["Location"] == address
    work.work_off()

    page = text(Client(), address)
    assert '<span class="tag">played</span>' in page
    following = re.findall(r'href="(\?ply=[^"]+line=[^"]+)"', page)[0]
    asked = f"/games/{game.pk}/what-if/{following.replace('&amp;', '&')}"
    assert "Compare the alternatives" in text(ana, asked)


def test_what_if_leads_to_the_text_of_its_position(game) -> None:
    start = game_at(replay_of(game), 40)
    after = start.copy()
    after.play(start.legal()[0])
    line = urlencode({"ply": 40, "line": start.legal()[0]})

    what_if = text(Client(), f"/games/{game.pk}/what-if/?{line}")
    address = re.findall(r'href="(/position/\?text=[^"]+)"', what_if)[0]
    page = text(Client(), html.unescape(address))

    assert f">{text_of(after.position, after.rules)}</textarea>" in page
    assert '<svg id="board"' in page
    assert address.replace("/position/?text", "/play/?start") in what_if
    assert f"Phase {after.position.phase}, round {after.position.round}" in page


def test_the_page_of_a_position_explains_a_wrong_text() -> None:
    empty = Client().get("/position/")
    wrong = Client().get("/position/", {"text": "torres-position/1:<b>=7"})

    assert (empty.status_code, wrong.status_code) == (200, 422)
    page = wrong.content.decode()
    assert "position: &#x27;&lt;b&gt;=7&#x27; is no field" in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    "query", ["", "?ply=x", "?ply=-1", "?ply=99999999", "?ply=3&line=%00", "?line=a"]
)
def test_wrong_addresses_are_harmless(game, query) -> None:
    assert "What if?" in text(visit("ana"), f"/games/{game.pk}/what-if/{query}")


def test_a_refused_request_is_explained(game, settings) -> None:
    ana = visit("ana")
    settings.TORRES_ANALYSES_PER_DAY = 0

    ana.post(f"/games/{game.pk}/analyse/")

    page = text(ana, f"/games/{game.pk}/analysis/")
    assert "This service analyses no games" in page
    assert not Analysis.objects.exists()
