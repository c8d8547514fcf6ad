"""The addresses for machines that watch the service: /healthz, /readyz, /metrics."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings
from pytest_django.asserts import assertNumQueries

from ladder.common import publishing
from ladder.games.worker.timings import Timing, Timings
from ladder.health import signs
from ladder.moderation.models import ServicePart, StoppedUnit
from ladder.service import service_parts
from tests.factories import everything
from tests.games import factories

TOKEN = "a-token-for-prometheus"
# A probe sends the address of the pod, and knows no HTTPS.
PROBE = {"HTTP_HOST": "10.0.3.17:8000"}

pytestmark = pytest.mark.usefixtures("data_dir")


def make_ready() -> None:
    """Let the dispatcher and a worker report."""
    service_parts.report(service_parts.DISPATCHER)
    factories.worker("1", "here")
    factories.worker("2", "here")


def readiness(*parts: str) -> tuple[int, dict[str, object]]:
    response = Client().get("/readyz", {"part": parts}, **PROBE)
    return response.status_code, response.json()


def read_metrics() -> dict[str, float]:
    """Return the samples by name and labels, as in `torres_games{status=dead}`."""
    header = {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}
    text = Client().get("/metrics", **PROBE, **header).content.decode()
    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            samples[f"{sample.name}{{{labels}}}"] = sample.value
    return samples


@pytest.mark.django_db
def test_health_asks_nothing() -> None:
    with assertNumQueries(0):
        response = Client().get("/healthz", **PROBE)

    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    assert int(response["Content-Length"]) == len(response.content)


@pytest.mark.django_db
def test_other_methods_are_refused() -> None:
    response = Client().post("/healthz", **PROBE)

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


@pytest.mark.django_db
def test_a_service_that_plays_is_ready() -> None:
    make_ready()
    status, document = readiness()

    assert (status, document["ready"]) == (200, True)
    assert list(document["parts"]) == list(signs.PARTS)
    assert all(part["ok"] for part in document["parts"].values())
    ages = [document["parts"][part]["age_s"] for part in signs.ESSENTIAL]
    assert all(0 <= age < 60 for age in ages)


@pytest.mark.django_db
def test_every_missing_part_is_named() -> None:
    status, document = readiness()

    assert (status, document["ready"]) == (503, False)
    bad = {name for name, part in document["parts"].items() if not part["ok"]}
    assert bad == {"dispatcher", "workers"}
    assert document["parts"]["workers"]["problem"] == "No worker for games is running."


@pytest.mark.django_db
def test_a_dispatcher_that_is_silent_is_noticed() -> None:
    make_ready()
    ServicePart.objects.update(seen_at=Now() - 2 * service_parts.SILENT_AFTER)
    status, document = readiness()

    dispatcher = document["parts"]["dispatcher"]
    assert (status, dispatcher["ok"]) == (503, False)
    assert dispatcher["age_s"] > service_parts.SILENT_AFTER.total_seconds()


@pytest.mark.django_db
def test_only_the_named_parts_count() -> None:
    assert readiness("database")[0] == 200
    status, document = readiness("database", "dispatcher")
    assert (status, list(document["parts"])) == (503, ["database", "dispatcher"])

    response = Client().get("/readyz?part=moon", **PROBE)
    assert response.status_code == 400
    assert b"There is no part 'moon'. The parts are: database," in response.content


@pytest.mark.django_db
def test_what_is_less_important_makes_nothing_unready() -> None:
    make_ready()
    StoppedUnit.objects.create(kind="tournament", name="cup", error="ValueError")
    silent = factories.worker("b", "a-secret-host")
    old = timezone.now() - timedelta(hours=1)
    factories.Worker.objects.filter(pk=silent).update(seen_at=old)
    response = Client().get("/readyz", **PROBE)
    parts = response.json()["parts"]

    assert response.status_code == 200
    assert parts["units"]["problem"] == "1 unit of the dispatcher's work stopped."
    assert parts["silent workers"]["problem"] == "1 worker stopped reporting."
    assert b"a-secret-host" not in response.content


@pytest.mark.django_db
def test_an_absent_database_and_an_absent_broker_are_reported(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN

    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    def no_broker(*_: object) -> None:
        raise publishing.OperationalError("connection refused")

    monkeypatch.setattr(signs.connection, "cursor", away)
    monkeypatch.setattr(publishing, "ping", no_broker)
    status, document = readiness()
    samples = read_metrics()

    assert status == 503
    bad = {name for name, part in document["parts"].items() if not part["ok"]}
    assert bad == {"database", "broker"}
    assert samples["torres_part_ok{part=database}"] == 0
    assert samples["torres_part_ok{part=disk}"] == 1


@pytest.mark.django_db
def test_metrics_are_off_without_a_token() -> None:
    response = Client().get("/metrics", **PROBE)
    assert response.status_code == 404
    assert b"TORRES_METRICS_TOKEN" in response.content


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Token {TOKEN}", "é"]
)
def test_metrics_need_the_token(header: str, settings: Settings) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    response = Client().get("/metrics", **PROBE, HTTP_AUTHORIZATION=header)

    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert b"torres_games" not in response.content


@pytest.mark.django_db
def test_metrics_count_what_is_in_the_database(settings: Settings) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    everything()
    make_ready()
    Client().get("/no-such-page/")
    Client().get("/")
    samples = read_metrics()

    finished = samples["torres_games{status=finished}"]
    assert finished == factories.Game.objects.filter(status="finished").count() > 0
    assert samples["torres_worker_slots{worker=here:/data}"] == 2
    assert samples["torres_games_missing{}"] == 0
    assert samples["torres_part_ok{part=dispatcher}"] == 1
    home = "method=GET,route=,status=2xx"
    assert samples[f"torres_request_seconds_count{{{home}}}"] >= 1
    routes = {name for name in samples if "route=" in name}
    assert not any("no-such-page" in name for name in routes)


@pytest.mark.django_db
def test_the_histograms_of_workers_are_added_up_by_process(settings: Settings) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    counted = Timings()
    for seconds in (0.003, 0.003, 2000.0):
        counted.add(Timing.SANDBOX_START, seconds)
    rows = factories.Worker.objects
    histograms = counted.snapshot()
    for name in ("1", "2"):
        rows.filter(pk=factories.worker(name, "here")).update(timings=histograms)
    # Workers of other versions count nothing, or in other buckets.
    factories.worker("old", "here")
    other = {"sandbox_start": {"counts": [1, 2], "sum": 1.0}}
    rows.filter(pk=factories.worker("new", "here")).update(timings=other)
    samples = read_metrics()

    name = "torres_sandbox_start_seconds"
    for process in ("1", "2"):
        labels = f"process={process},worker=here:/data"
        buckets = {
            bound: samples[f"{name}_bucket{{le={bound},{labels}}}"]
            for bound in ("0.001", "0.0025", "0.005", "900.0", "+Inf")
        }
        assert [*buckets.values()] == [0, 0, 2, 2, 3]
        assert samples[f"{name}_count{{{labels}}}"] == 3
        assert samples[f"{name}_sum{{{labels}}}"] == pytest.approx(2000.006)
    assert not any("process=old" in each or "process=new" in each for each in samples)


@pytest.mark.django_db
def test_a_scrape_asks_no_more_with_more_rows(settings: Settings) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    everything()
    make_ready()
    read_metrics()  # fills caches
    before = queries()
    for k in range(20):
        factories.worker(f"more-{k}")
    factories.game()
    assert queries() == before


def queries() -> int:
    with CaptureQueriesContext(connection) as captured:
        read_metrics()
    return len(captured)
