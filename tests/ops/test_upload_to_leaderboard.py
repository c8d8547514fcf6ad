"""One bot from upload to leaderboard, on PostgreSQL and Redis with two workers.

Everything is real: the servers, the processes as docs/operating.md starts them, HTTP,
the sandbox, and a bot that is not part of the repository.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import httpx
import pytest
from django.conf import settings

from tests import servers

pytestmark = [
    pytest.mark.servers,
    pytest.mark.sandbox,
    pytest.mark.usefixtures("_servers"),
    pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here"),
]
BIN = Path(sys.executable).parent
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
QUEUES = "play,again,tournament,build"
NAMES = ("TORR", "DATA", "BROK")  # the beginnings of the variables of a worker
TIMEOUT_S = 240
BOT = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        print(json.dumps({"actions": [message["legal"][-1]]}), flush=True)
"""


class JourneyService:
    """The processes of a service of several hosts, all on one machine."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.stack, self.folder = stack, folder
        database = servers.postgres(folder / "cluster", migrated=True)
        stack.callback(database.close)
        broker = servers.redis(folder / "redis")
        stack.callback(broker.close)
        self.environ = os.environ | {
            "DATABASE_URL": database.url,
            "BROKER_URL": broker.url,
            "TORRES_DATA": str(folder / "data"),
            "TORRES_SANDBOX": "full",
        }
        self.broker = broker
        self.address = f"http://127.0.0.1:{servers.free_port()}"

    def run(self, *command: object) -> str:
        done = subprocess.run(
            list(map(str, command)),
            env=self.environ,
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def spawn(
        self, *command: object, environment: dict[str, str] | None = None
    ) -> None:
        with (self.folder / "log").open("ab") as log:
            child = subprocess.Popen(
                list(map(str, command)),
                env=environment or self.environ,
                cwd=settings.BASE_DIR,
                stdout=log,
                stderr=log,
            )

        def end() -> None:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(60)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

        self.stack.callback(end)

    def start(self) -> None:
        self.run(*MANAGE, "prepare")
        web = self.address.removeprefix("http://")
        self.spawn(*MANAGE, "serve", f"--listen={web}")
        self.spawn(*MANAGE, "schedule")
        for name in ("one", "two"):
            self.spawn(
                *(BIN / "celery", "-A", "ladder.celery", "worker", "--queues", QUEUES),
                *("--concurrency", 1, "--hostname", f"{name}@%h"),
                *("--without-gossip", "--without-mingle", "--without-heartbeat"),
                environment=self.worker_environment(name),
            )

    def worker_environment(self, name: str) -> dict[str, str]:
        """Return the environment of a host of workers, with no secret of the service.

        The host has a folder of its own, in which the uploads can be seen.
        """
        lines = self.run(*MANAGE, "worker_role", f"worker_{name}").splitlines()
        (rule,) = [line for line in lines if line.startswith("ACL ")]
        assert self.broker.execute(*rule.split()) == b"+OK\r\n"
        printed = dict(line.split("=", 1) for line in lines if line[:4] in NAMES)
        folder = self.folder / name
        folder.mkdir()
        uploads = self.folder / "data" / "submissions"
        (folder / "submissions").symlink_to(uploads, target_is_directory=True)
        own = {k: v for k, v in self.environ.items() if k != "SECRET_KEY"}
        return own | {"TORRES_DATA": str(folder)} | printed

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-4000:]


def until(question, service: JourneyService):
    """Repeat a question until the answer is true, and return it.

    Fail with the logs of the service after TIMEOUT_S.
    """
    deadline = time.monotonic() + TIMEOUT_S
    pause = Event()
    while time.monotonic() < deadline:
        try:
            if answer := question():
                return answer
        except httpx.TransportError:
            pass
        pause.wait(0.5)
    raise AssertionError(service.log())


@pytest.mark.slow
def test_a_bot_goes_from_upload_to_leaderboard_on_two_workers(tmp_path: Path) -> None:
    with ExitStack() as stack:
        # Not in pytest's own folder, which the user postgres cannot enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torres-test-")))
        folder.chmod(0o755)
        service = JourneyService(stack, folder)
        service.start()
        token = service.run(*MANAGE, "token", "ana").split()[-1]
        api = stack.enter_context(
            httpx.Client(
                base_url=f"{service.address}/api/v1/",
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
        )
        until(lambda: api.get("ladders/").status_code == 200, service)

        assert api.post("bots/", json={"name": "Stranger"}).status_code == 201
        uploaded = api.post(
            "bots/stranger/submissions/", files={"archive": ("bot.py", BOT.encode())}
        )
        assert uploaded.status_code == 202
        address = uploaded.headers["Location"]
        ready = until(
            lambda: (
                (state := api.get(service.address + address).json())["status"]
                not in {"uploaded", "building", "validating"}
                and state
            ),
            service,
        )
        assert ready["status"] == "ready", (ready, service.log())

        def finished():
            query = {"bot": "stranger", "status": "finished"}
            return api.get("games/", params=query).json()["results"]

        game = until(finished, service)[0]
        rows = until(
            lambda: [
                row
                for row in api.get("ladders/main/leaderboard/").json()["results"]
                if row["bot"] == "stranger" and row["games"]
            ],
            service,
        )
        assert rows[0]["sigma"] < 25 / 3
        replay = tmp_path / "game.json"
        replay.write_text(json.dumps(api.get(f"games/{game['id']}/replay/").json()))
        assert service.run(BIN / "torres", "verify", replay).endswith(": valid\n")

        status = service.run(*MANAGE, "status")
        assert "The totals add up." in status
        service.run(*MANAGE, "rebuild_ratings", "--check")
