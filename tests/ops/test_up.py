"""`manage.py up` is started, stopped and killed as an operator would do it."""

import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.ops.running import environment

MANAGE = [sys.executable, str(Path(__file__).with_name("scripted_manage.py"))]


@pytest.fixture
def data(tmp_path) -> dict[str, str]:
    """Return the environment of a service with its own data folder."""
    return environment(tmp_path)


def run(data, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *words],
        env=data,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def manage(data, *words: str) -> str:
    done = run(data, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


_started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _no_service_stays():
    """Kill what a failed test left, or it would play games until all tests end."""
    yield
    while _started:
        service = _started.pop()
        service.kill()
        with suppress(ValueError):  # the test has closed its output
            service.communicate()


def start(data, *words: str) -> subprocess.Popen[str]:
    service = subprocess.Popen(
        [*MANAGE, "up", *words], env=data, stdout=subprocess.PIPE, text=True
    )
    _started.append(service)
    return service


def sound_totals(data) -> str:
    """Return what the service says of its games, which must add up."""
    totals = manage(data, "status", "--totals")
    assert "The totals add up." in totals
    assert "all ratings the same" in manage(data, "rebuild_ratings", "--check")
    return totals


@pytest.mark.slow
def test_it_ends_after_the_number_of_games(tmp_path):
    data = environment(tmp_path, migrated=False)
    out = manage(data, "up", "--demo", "--once", "--games", "5")

    assert "LADDER=http://127.0.0.1:" in out
    assert "TOKEN=torres_" in out
    assert "rank  rating" in out
    assert sum(line.startswith("game ") for line in out.splitlines()) >= 5
    sound_totals(data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "mode", "is_open"),
    [(["--demo"], None, True), (["--demo"], "closed", False), ([], None, False)],
)
def test_the_demo_lets_people_sign_up_unless_it_is_told_otherwise(
    data, words: list[str], mode: str | None, *, is_open: bool
):
    data.pop("TORRES_SIGN_UP", None)
    service = start(data | ({"TORRES_SIGN_UP": mode} if mode else {}), *words)
    address = service.stdout.readline().removeprefix("LADDER=").strip()
    page = httpx.get(f"{address}/sign-up/", timeout=60).text
    service.send_signal(signal.SIGTERM)
    service.communicate(timeout=60)

    assert ("Create the account" in page) is is_open
    assert ("Only the operator" in page) is not is_open


@pytest.mark.slow
def test_a_second_one_on_the_same_data_is_refused(data):
    first = start(data)
    assert first.stdout.readline().startswith("LADDER=")
    second = run(data, "up")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)

    assert second.returncode == 1
    assert "already running" in second.stderr
    assert first.returncode == 0


@pytest.mark.slow
def test_a_port_in_use_is_an_error_without_a_traceback(data):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = run(data, "up", "--port", str(port))

    assert done.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be opened" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_of_another_version_is_an_error_without_a_traceback(tmp_path):
    data = environment(tmp_path, migrated=False)
    done = run(data, "status")

    assert done.returncode == 1
    assert "manage.py prepare" in done.stderr
    assert "Traceback" not in done.stderr


def web_of(service) -> int:
    """Return the id of the web server process of a running service."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
            line = place.with_name("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == service.pid and b"serve" in line:
            return int(place.parent.name)
    raise AssertionError("there is no web server process")


@pytest.mark.slow
def test_a_web_server_that_dies_is_started_again_and_ctrl_c_ends_it(data):
    service = start(data)
    address = service.stdout.readline().removeprefix("LADDER=").strip()
    assert httpx.get(address, timeout=60).status_code == 200
    os.kill(web_of(service), signal.SIGKILL)
    # Requests wait in the backlog meanwhile. A request that was being answered when
    # the server died fails and is repeated.
    for _ in range(20):
        with suppress(httpx.ReadError, httpx.RemoteProtocolError):
            assert httpx.get(address, timeout=60).status_code == 200
            break
    for line in service.stdout:
        if line.startswith("game "):
            break
    service.send_signal(signal.SIGINT)
    rest = service.communicate(timeout=60)[0]

    assert service.returncode == 0
    assert "rank  rating" in rest
    sound_totals(data)


@pytest.mark.slow
def test_an_upload_is_validated_soon(data):
    """The web server has no workers; the dispatcher finds the new upload."""
    service = start(data, "--demo")
    lines = [service.stdout.readline().strip() for _ in range(2)]
    address, token = (line.partition("=")[2] for line in lines)
    head = {"Authorization": f"Bearer {token}"}
    bot = {"archive": ("bot.py", b"print()")}
    with httpx.Client(base_url=f"{address}/api/v1/", headers=head, timeout=60) as api:
        assert api.post("bots/", json={"name": "Stranger"}).status_code == 201
        sent = api.post("bots/stranger/submissions/", files=bot)
        started = time.monotonic()
        while api.get(sent.headers["Location"]).json()["status"] == "uploaded":
            assert time.monotonic() - started < 60
            threading.Event().wait(0.1)
    service.send_signal(signal.SIGINT)

    service.communicate(timeout=60)
    assert service.returncode == 0


def kill_repeatedly(data, times: int) -> None:
    rng = random.Random(4)
    for _ in range(times):
        service = start(data)
        assert service.stdout.readline().startswith(("LADDER=", "1 games", "2 games"))
        threading.Event().wait(rng.uniform(0.05, 1.5))
        service.kill()
        service.communicate()
        deadline = time.monotonic() + 30
        while survivors(data) and time.monotonic() < deadline:
            threading.Event().wait(0.05)
        assert survivors(data) == []


def survivors(data) -> list[str]:
    """Return the command lines of all processes of the killed service."""
    processes = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes() + (place / "environ").read_bytes()
        except OSError:
            continue
        if data["TORRES_DATA"].encode() in line:
            processes.append(line.decode(errors="replace"))
    return processes


@pytest.mark.slow
def test_neither_repeated_kills_nor_a_closed_output_lose_a_game(data):
    kill_repeatedly(data, 3)

    service = start(data, "--once", "--games", "5")
    service.stdout.readline()
    service.stdout.close()

    assert service.wait(timeout=120) == 0
    assert "dead                     0" in sound_totals(data)


@pytest.mark.slow
def test_an_output_that_nobody_reads_does_not_hold_it_up(data):
    unread, full = os.pipe()
    fcntl.fcntl(full, fcntl.F_SETPIPE_SZ, 4096)
    os.write(full, b"x" * 3900)  # the first line has room, and few others
    words = ["--once", "--games", "5"]
    service = subprocess.Popen([*MANAGE, "up", *words], env=data, stdout=full)
    _started.append(service)
    os.close(full)

    ended = service.wait(timeout=120)
    os.close(unread)

    assert ended == 0
    sound_totals(data)
