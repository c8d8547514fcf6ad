"""Traces from upload to rating: real processes, and a real server of OTLP over HTTP."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured

from ladder.common import environment as variables
from tests.ops.collector import Collector, running_collector
from tests.ops.running import MANAGE_PY, environment, running_service
from tests.ops.test_upload_to_leaderboard import BOT, JourneyService

TIMEOUT_S = 240.0
# A service that stops waits 2 s for each of its two processes that send traces.
MAX_STOP_S = 20.0
LATE_WARNING = "the collector does not take traces"
USE_EVERYTHING = """
import sys
import ladder.celery, ladder.urls
from django.test import Client
from ladder.common import tracing
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games.worker.lifecycle import ReporterStep
assert Client().get("/", headers={"host": "localhost"}).status_code == 200
Dispatcher().tick()
with tracing.span("work"):
    tracing.record("part")
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def until(question: Callable[[], Any]) -> Any:
    """Repeat a question until its answer is true, and return the answer."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (answer := question()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.2)
    return answer


def manage(home: dict[str, str], *words: str) -> str:
    return subprocess.check_output([*MANAGE_PY, *words], env=home, text=True)


def make_home(folder: Path, **variables: str) -> dict[str, str]:
    """Prepare a service that sends its traces soon."""
    quick = {
        "TORRES_SANDBOX": "none",
        "TORRES_PRACTICE_SLOTS": "0",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    home = environment(folder, **quick, **variables)
    manage(home, "prepare")
    return home


def answers(api: httpx.Client) -> bool:
    try:
        return api.get("ladders/").is_success
    except httpx.TransportError:
        return False


def let_a_bot_be_rated(home: dict[str, str], server: str) -> None:
    """Upload a bot over REST, and wait until a game of it is rated."""
    token = manage(home, "token", "ana").split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{server}/api/v1/", headers=headers, timeout=60) as api:
        until(lambda: answers(api))
        api.post("bots/", json={"name": "Traced"}).raise_for_status()
        files = {"archive": ("bot.py", BOT.encode())}
        api.post("bots/traced/submissions/", files=files).raise_for_status()

        def rated() -> bool:
            board = api.get("ladders/main/leaderboard/").json()["results"]
            return any(row["bot"] == "traced" and row["games"] for row in board)

        until(rated)


@pytest.mark.slow
@pytest.mark.long
def test_one_trace_leads_from_the_upload_to_the_rating(tmp_path: Path) -> None:
    with running_collector() as collector:
        home = make_home(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        with running_service(home) as (server, _):
            let_a_bot_be_rated(home, server)
            until(lambda: first_match_is_rated(collector))
        check_the_trace_of_the_upload(collector)
        check_the_other_games(collector)


def first_match_is_rated(collector: Collector) -> bool:
    """True if the trace of the upload is complete. A later match may be rated first."""
    uploads = collector.spans("upload")
    return bool(uploads) and "rating" in collector.trace_of(uploads[0])


def check_the_trace_of_the_upload(collector: Collector) -> None:
    (upload,) = collector.spans("upload")
    trace = collector.trace_of(upload)
    root = "POST /api/v1/bots/<slug:slug>/submissions/"
    expected = {
        "upload": [root, "upload"],
        "validation": [root, "upload", "validation"],
        "validation: play": [root, "upload", "validation", "validation: play"],
        "join": [root, "upload", "join"],
        "match": [root, "upload", "match"],
        "hint": [root, "upload", "match", "hint"],
        "game": [root, "upload", "match", "game"],
        "claim": [root, "upload", "match", "game", "claim"],
        "referee": [root, "upload", "match", "game", "referee"],
        "finish": [root, "upload", "match", "game", "finish"],
        "rating": [root, "upload", "match", "rating"],
    }
    assert {name: collector.path(trace[name][0]) for name in expected} == expected
    steps = [trace[name][0] for name in ("upload", "validation", "game", "rating")]
    assert [step.began for step in steps] == sorted(step.began for step in steps)
    assert not any(span.failed for spans in trace.values() for span in spans)
    assert {upload.service, trace["game"][0].service} == {"torres-serve", "torres-up"}
    (answer,) = trace[root]
    assert answer.attributes["http.response.status_code"] == 202

    bots = {span.attributes["torres.bot"] for span in trace["start bot"]}
    assert "traced" in bots
    starts = {span.id for span in trace["start bot"]}
    assert {span.parent for span in trace["start sandbox"]} == starts
    statements = {span.attributes.get("db.system.name") for span in collector.spans()}
    assert "sqlite" in statements
    assert BOT not in repr(collector.spans())


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.servers
@pytest.mark.sandbox
@pytest.mark.usefixtures("_servers")
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_one_trace_crosses_the_processes_of_a_large_service() -> None:
    """Web server, dispatcher and two Celery workers, on PostgreSQL and Redis."""
    with ExitStack() as stack:
        collector = stack.enter_context(running_collector())
        # Not in pytest's own folder, which the user postgres cannot enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torres-test-")))
        folder.chmod(0o755)
        with ExitStack() as processes:
            service = JourneyService(processes, folder)
            service.environ |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
            service.start()
            let_a_bot_be_rated(service.environ, service.address)
            until(lambda: first_match_is_rated(collector))
        # All have ended, so the last spans were sent.
        (upload,) = collector.spans("upload")
        trace = collector.trace_of(upload)
        services = {
            name: trace[name][0].service
            for name in ("upload", "validation", "join", "match", "hint", "game")
        }
        finish = trace["finish"][0]
        inside = [s for s in collector.spans() if s.parent == finish.id]

    assert services == {
        "upload": "torres-serve",
        "validation": "torres-worker",
        "join": "torres-schedule",
        "match": "torres-schedule",
        "hint": "torres-schedule",
        "game": "torres-worker",
    }
    assert trace["rating"]
    # The whole result is one statement of psycopg.
    (written,) = [s for s in inside if s.name == "WITH games_game"]
    assert written.attributes["db.system.name"] == "postgresql"


def check_the_other_games(collector: Collector) -> None:
    """A later game of the bot has a trace of its own, with a link to the upload."""
    (upload,) = collector.spans("upload")
    for match in collector.spans("match"):
        if match.trace != upload.trace:
            assert match.parent == ""
            assert set(match.links) <= {upload.id}


@contextmanager
def silent_server() -> Iterator[str]:
    """Open a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def closed_port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
    yield address


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "collector",
    [pytest.param(closed_port, marks=pytest.mark.deep), silent_server],
)
def test_a_collector_that_is_away_disturbs_nothing(
    collector: Callable[[], Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with collector() as url:
        # The queue is full after the first moments.
        small = {"OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "8"}
        patience = {"OTEL_EXPORTER_OTLP_TIMEOUT": "3"}
        home = make_home(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=url, **small, **patience)
        with running_service(home) as (server, process):
            let_a_bot_be_rated(home, server)
            began = time.monotonic()
            process.terminate()
            process.wait(TIMEOUT_S)
            stopped_s = time.monotonic() - began
    errors = capfd.readouterr().err

    assert stopped_s < MAX_STOP_S
    assert process.returncode == 0
    assert "Traceback" not in errors
    warnings = [line for line in errors.splitlines() if "opentelemetry" in line]
    assert warnings == []
    # Once a minute in each of the two processes.
    assert 1 <= errors.count(LATE_WARNING) <= 4


@pytest.mark.slow
def test_nothing_of_opentelemetry_is_imported_while_traces_are_off(
    tmp_path: Path,
) -> None:
    home = environment(tmp_path)
    manage(home, "prepare")

    assert manage(home, "shell", "-v0", "--no-imports", "-c", USE_EVERYTHING) == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
    ],
    ids=str,
)
def test_traces_can_be_switched_off(variables: dict[str, str], tmp_path: Path) -> None:
    on = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    show = "from django.conf import settings; print(settings.TRACES)"
    words = ("shell", "-v0", "--no-imports", "-c", show)

    assert manage(environment(tmp_path, **on), *words) == "True\n"
    assert manage(environment(tmp_path, **(on | variables)), *words) == "False\n"


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "no address of HTTP"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://x/"}, "no address of HTTP"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[x"}, "no address of HTTP"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "Set it to http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "Set it to otlp, none"),
        ({"TORRES_TRACES": "1"}, "TORRES_TRACES is not a setting"),
    ],
    ids=str,
)
def test_a_service_with_a_wrong_variable_does_not_start(
    variables: dict[str, str], problem: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "status"],
        cwd=configured.BASE_DIR,
        env=environment(tmp_path, **variables),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables, "find_spec", lambda _: None)
    env = variables.Environment({"COLLECTOR": "http://127.0.0.1:4318"})
    env.collector("COLLECTOR")

    with pytest.raises(ImproperlyConfigured, match="pip install"):
        env.refuse_mistakes()
