"""Hours of traffic, after which the service holds no more than after the first tenth.

Real processes play with real bots in the sandbox: ladder games with crashes and voids,
tournaments, uploads, logins and pages. What the service keeps for days is kept for the
same share of the run, and `tidy` runs as a timer would start it.

TESTS_SOAK_HOURS is the simulated time (6), and TESTS_SOAK_SPEED the number of
simulated seconds in a second (12).
"""

import os
import sys
import threading
import time
from collections.abc import Mapping

import pytest
from django.conf import settings

from ladder.ops.chaos.monkey import ServiceProcess
from tests import servers
from tests.soak import growth
from tests.soak.factories import Fleet, fleet
from tests.soak.growth import Series
from tests.soak.traffic import CRASHING_BOT, GOOD_BOT, Author, Traffic

pytestmark = [pytest.mark.usefixtures("_servers"), pytest.mark.sandbox]
HOURS = float(os.environ.get("TESTS_SOAK_HOURS", "6"))
SPEED = float(os.environ.get("TESTS_SOAK_SPEED", "12"))
RUN_S = HOURS * 3600 / SPEED
SAMPLES = 200
KEPT_S = RUN_S / 40
"""Everything that is deleted in time is deleted at this age, well within a tenth."""
TIDY_S = RUN_S / 60
SLOTS = 2
OWNERS = 4
SECONDS_A_DAY = 86_400
CHURN = "SELECT COUNT(*) FROM games_game WHERE status IN ('finished', 'voided')"
SIZE = "SELECT pg_database_size(current_database())"
DAYS = ("LOGS", "ANSWERS", "WORKERS", "REJECTED", "EXPIRED", "EVENTS")


def environment() -> dict[str, str]:
    """Return the settings of the service: short retention, and wide quotas."""
    kept = {
        f"TORRES_KEEP_{name}_DAYS": f"{KEPT_S / SECONDS_A_DAY:.9f}" for name in DAYS
    }
    return {
        **kept,
        # Longer than any work with a half-finished file takes.
        "TORRES_KEEP_SCRATCH_HOURS": f"{max(60.0, KEPT_S) / 3600:.9f}",
        "TORRES_SANDBOX": "full",
        "TORRES_CACHE_MB": "1",
        "TORRES_UPLOADS_PER_HOUR": "1000000",
        "TORRES_RATE_SIGN_IN": "1000000",
        "TORRES_RATE_PAGES": "1000000",
        "TORRES_RATE_ANONYMOUS": "1000000",
        "TESTS_SOAK_SESSION_S": str(max(1, round(KEPT_S))),
        "DJANGO_SETTINGS_MODULE": "tests.soak.accelerated_settings",
        "PYTHONPATH": str(settings.BASE_DIR),
    }


def open_service(service: Fleet) -> ServiceProcess:
    """Start a dispatcher, a worker and a web server; return the web server."""
    (service.folder / "tmp").mkdir(mode=0o777)
    service.env["TMPDIR"] = str(service.folder / "tmp")
    service.manage("prepare", "--verbosity", "0")
    celery = [sys.executable, "-m", "celery", "-A", "ladder.celery", "worker"]
    options = ["-P", "threads", "-c", str(SLOTS), "--loglevel", "WARNING"]
    log = service.folder / "worker.log"
    service.workers.append(ServiceProcess([*celery, *options], service.environ(), log))
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    service.scheduler = ServiceProcess(
        [*manage, "schedule"], service.environ(), service.folder / "schedule.log"
    )
    port = servers.free_port()
    service.env["LADDER"] = f"http://127.0.0.1:{port}"
    web = ServiceProcess(
        [*manage, "serve", "--listen", f"127.0.0.1:{port}"],
        service.environ(),
        service.folder / "web.log",
    )
    service.keep()
    web.ensure_running()
    return web


def new_author(service: Fleet, number: int) -> Author:
    source = CRASHING_BOT + GOOD_BOT if number == 1 else GOOD_BOT
    token = service.manage("token", f"author-{number}").strip()
    return Author(token, f"bot-{number}", source)


def new_operator(service: Fleet) -> str:
    token = service.manage("token", "olga").strip()
    service.shell(
        "from django.contrib.auth.models import User",
        "User.objects.update_or_create(username='olga',"
        " defaults={'is_staff': True, 'is_superuser': True})",
    )
    return token


def start_tournament(service: Fleet) -> None:
    """Start a Swiss tournament of all house bots."""
    service.shell(
        "import secrets",
        "from ladder.bots.models import Bot",
        "from ladder.tournaments import services",
        "from tests.tournaments.factories import tournament",
        "config = {'format': 'swiss', 'rounds': 2}",
        "cup = tournament(config, slug=secrets.token_hex(6))",
        "[services.enter(cup, bot) for bot in Bot.objects.filter(house=True)]",
        "services.start(cup)",
    )


def sample(service: Fleet, web: ServiceProcess) -> Mapping[str, float]:
    """Measure everything that could grow."""
    found: dict[str, float] = {}
    roots = {
        "dispatcher": service.scheduler.child.pid,
        "worker": service.workers[0].child.pid,
        "web": web.child.pid,
    }
    workers = growth.tree(roots["worker"])
    for name, pid in roots.items():
        found |= growth.process_quantities(name, pid)
    zygotes = [pid for pid, line in workers.items() if b"zygote" in line]
    found["zygotes"] = len(zygotes)
    for pid in sorted(zygotes)[:1]:  # that from which all bots are forked
        found |= growth.process_quantities("zygote", pid)
    found["control groups"] = growth.control_groups(workers)
    data = service.folder / "data"
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        if folder.name != "submissions":  # its uploads stay
            found[f"files in {folder.name}"] = growth.files(folder)
    found["files in TMPDIR"] = growth.files(service.folder / "tmp")
    for name, table in growth.TRANSIENT_TABLES.items():
        found[f"rows of {name}"] = count(service, table)
    rejected = "bots_submission WHERE status = 'rejected'"
    found["rows of rejected uploads"] = count(service, rejected)
    found["connections"] = count(service, "pg_stat_activity")
    found["broker"] = redis_memory_mib(service)
    return found


def redis_memory_mib(service: Fleet) -> float:
    answer = service.redis.execute("INFO", "memory").decode()
    line = next(row for row in answer.splitlines() if row.startswith("used_memory:"))
    return int(line.partition(":")[2]) / growth.MIB


def count(service: Fleet, table: str) -> float:
    return service.ask(f"SELECT COUNT(*) FROM {table}")[0][0]


def create_bots(traffic: Traffic) -> None:
    """Let each author create a bot and upload a first version that plays."""
    for author in traffic.authors:
        with traffic.client(author.token) as client:
            answer = client.post("/api/v1/bots/", json={"name": author.bot})
            answer.raise_for_status()


def start_traffic(service: Fleet, traffic: Traffic) -> None:
    """Start all acts; each is repeated some hundred times in the run."""

    def tidy() -> None:
        service.manage("tidy")

    def play_a_tournament() -> None:
        start_tournament(service)

    traffic.repeat(traffic.read_pages, 2.0)
    traffic.repeat(traffic.sign_in, 1.0)
    traffic.repeat(traffic.upload, 4.0)
    traffic.repeat(traffic.come_back, 15.0)
    traffic.repeat(traffic.void, 10.0)
    traffic.repeat(tidy, TIDY_S)
    traffic.repeat(play_a_tournament, RUN_S / 20)


def show(
    series: Series, sizes: list[float], games: list[float], traffic: Traffic
) -> None:
    """Print what was done and measured."""
    print(f"\n{HOURS} h in {RUN_S:.0f} s: {games[-1]} games, {dict(traffic.done)}")
    print(f"{'':44} {'2nd tenth':>12} {'last tenth':>12}")
    print("\n".join(series.lines()))
    first, last = growth.growth_per_step(sizes, games)
    print(f"bytes of the database per game: {first:.0f}, then {last:.0f}", flush=True)


def test_a_leak_is_seen():
    """The verdict can fail, and what fills up in the first tenth is no leak."""
    steady, full, leak = Series(), Series(), Series()
    for k in range(SAMPLES):
        steady.samples.append({"memory of web": 100.0 + k % 7})
        full.samples.append({"rows of sessions": min(k, SAMPLES // 10) * 100.0})
        leak.samples.append({"memory of web": 100.0 + 0.2 * k})

    assert steady.growing() == []
    assert full.growing() == []
    assert len(leak.growing()) == 1


def test_hours_of_traffic_leave_nothing_behind():
    series, sizes, games = Series(), [], []
    with fleet(env=environment()) as service:
        web = open_service(service)
        try:
            operator = new_operator(service)
            authors = [new_author(service, number) for number in range(OWNERS)]
            traffic = Traffic(service.env["LADDER"], authors, operator)
            create_bots(traffic)
            start_traffic(service, traffic)
            began = time.monotonic()
            while time.monotonic() - began < RUN_S:
                series.samples.append(sample(service, web))
                sizes.append(service.ask(SIZE)[0][0])
                games.append(service.ask(CHURN)[0][0])
                threading.Event().wait(RUN_S / SAMPLES)
            traffic.close()
            service.settle(forfeits=True)  # fails if an invariant does not hold
        finally:
            web.close()
    show(series, sizes, games, traffic)

    assert not traffic.errors, traffic.errors
    for act in ("upload", "void", "sign_in", "read_pages", "come_back"):
        assert traffic.done[act], f"{act} was never done"
    assert not series.growing(), "\n".join(series.growing())
    first, last = growth.growth_per_step(sizes, games)
    assert last <= 1.3 * first, f"bytes per game: {first:.0f}, then {last:.0f}"
