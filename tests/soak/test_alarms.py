"""Each component is killed in turn. Health, metrics and alarms report it.

All of it is over soon after the component runs again. The service has its default
times, and a PostgreSQL and a Redis of its own.
"""

import json
import signal
import sys
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from urllib.error import HTTPError

import pytest
from django.conf import settings

from ladder.ops.chaos.monkey import ServiceProcess
from tests import servers
from tests.soak.factories import Fleet, fleet
from tests.webhooks.factories import Receiver, receiver

pytestmark = pytest.mark.usefixtures("_servers")
TOLD_WITHIN_S = 60
OVER_WITHIN_S = 60
TOKEN = "a-token-for-prometheus"
Blow = tuple[Callable[[], object], Callable[[], object]]
"""The function that stops a component, and the one that cures it."""
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


class Watched:
    """A fleet with a web server and a monitor, and what both say."""

    def __init__(self, service: Fleet, hook: Receiver, address: str) -> None:
        self.service = service
        self.hook = hook
        self.address = address

    def ready(self) -> dict[str, bool]:
        """Return for each part whether /readyz says that it does its work."""
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=20) as answer:
                document = json.load(answer)
        except HTTPError as refusal:
            document = json.load(refusal)
        except OSError:
            return {}
        return {name: part["ok"] for name, part in document["parts"].items()}

    def metric(self, part: str) -> float | None:
        """Return the metric of a part, or None if there is no answer."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(f"{self.address}/metrics", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return None
        start = f'torres_part_ok{{part="{part}"}} '
        return next((float(x.split()[-1]) for x in lines if x.startswith(start)), None)

    def alarm(self, part: str) -> bool | None:
        """Return the last message about a part: raised, over, or None without one."""
        bodies = [json.loads(got.body) for got in self.hook.got]
        states = [body["raised"] for body in bodies if body["part"] == part]
        return states[-1] if states else None

    def is_told(self, part: str) -> bool:
        """True if all three ways say that a part has a problem."""
        if part.startswith("web server"):
            return self.ready() == {} and self.alarm(part) is True
        is_bad = self.ready().get(part) is False and self.metric(part) == 0
        return is_bad and self.alarm(part) is True

    def is_over(self, part: str) -> bool:
        """True if all three ways say that everything works again."""
        ready = self.ready()
        works = bool(ready) and all(ready.values())
        return works and self.alarm(part) is False


def process(service: Fleet, name: str, *words: str, **env: str) -> ServiceProcess:
    log = service.folder / f"{name}.log"
    started = ServiceProcess([*MANAGE, *words], service.environ(**env), log)
    started.ensure_running()
    return started


def hang(part: ServiceProcess) -> Blow:
    """Return how a process hangs, because a killed one would be restarted at once.

    The cure is to kill it; then it is started again.
    """

    def replace() -> None:
        part.close()
        part.ensure_running()

    return partial(part.send, signal.SIGSTOP), replace


def test_each_component_that_is_killed_is_told_within_a_minute() -> None:
    with ExitStack() as stack:
        hook = stack.enter_context(receiver())
        address = f"http://127.0.0.1:{servers.free_port()}"
        env = {"TORRES_METRICS_TOKEN": TOKEN, "TORRES_ALARM_URL": hook.url}
        service = stack.enter_context(fleet(env=env))
        service.open([()])
        listen = address.removeprefix("http://")
        web = process(service, "web", "serve", "--listen", listen)
        stack.callback(web.close)
        monitor = process(service, "monitor", "monitor", TORRES_MONITOR_WEB=address)
        stack.callback(monitor.close)
        watched = Watched(service, hook, address)
        service.until(lambda: set(watched.ready().values()) == {True}, 60)

        blows = {
            f"web server {address}": hang(web),
            "dispatcher": hang(service.scheduler),
            "workers": hang(service.workers[0]),
            "broker": (service.redis.kill, service.redis.start),
            "database": (service.postgres.kill, service.postgres.start),
        }
        for part, (kill, cure) in blows.items():
            kill()
            told_s = service.until(partial(watched.is_told, part), TOLD_WITHIN_S)
            cure()
            over_s = service.until(partial(watched.is_over, part), OVER_WITHIN_S)
            print(f"{part}: told after {told_s:.0f} s, over after {over_s:.0f} s")
