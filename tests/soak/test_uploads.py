"""Two hundred authors upload 5 MB each at once, while 500 people read pages.

The service has its default limits: every author has an account, and every reader an
address, which a trusted proxy would tell. Every request must succeed at once, so a
refusal that a client would repeat is an error here.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import psycopg
import pytest
from django.conf import settings

from tests.soak.crowds import Connection
from tests.soak.web_services import WebService, open_files, web_service

UPLOADS = 200
UPLOAD_BYTES = 5 << 20
READERS = 500
READ_INTERVAL_S = 2.0
ALONE_S = 20.0
"""How long the readers read before the uploads begin, and after they have ended."""
MAX_ANSWER_S = 30.0
MAX_GROWTH_MIB = 256
"""The uploads together have 1000 MiB."""
PAGES = (
    *("/", "/games/", "/ladders/", "/bots/", "/ladders/main/", "/games/1/"),
    *("/api/v1/games/?limit=20", "/api/v1/ladders/main/leaderboard/"),
    *("/api/v1/bots/?limit=20", "/docs/rules/"),
)
AUTHORS = f"""
import json
from django.contrib.auth.models import User
from ladder.accounts import tokens
from ladder.bots import services
authors = []
for number in range({UPLOADS}):
    token = tokens.token_for(f"author-{{number}}")
    owner = User.objects.get(username=f"author-{{number}}")
    authors.append((services.create_bot(owner, f"Upload {{number}}").slug, token))
print(json.dumps(authors))
"""


@dataclass
class Answers:
    """The statuses and times of all answers of one phase."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        centiles = statistics.quantiles(self.seconds, n=100)
        return (
            f"{len(self.seconds)} pages, median {1000 * centiles[49]:.0f} ms,"
            f" 99 % {1000 * centiles[98]:.0f} ms,"
            f" slowest {1000 * max(self.seconds):.0f} ms"
        )


@dataclass
class Readers:
    """People who read one page every other second, each from an own address."""

    address: str
    answers: Answers = field(default_factory=Answers)

    def begin_phase(self) -> Answers:
        self.answers = Answers()
        return self.answers

    async def read(self, number: int) -> None:
        connection = Connection(
            self.address,
            headers=(f"X-Forwarded-For: 10.0.{number // 250}.{number % 250}",),
        )
        await asyncio.sleep(READ_INTERVAL_S * number / READERS)
        try:
            while True:
                await self.read_one(connection, PAGES[number % len(PAGES)])
                number += 1
                await asyncio.sleep(READ_INTERVAL_S)
        finally:
            connection.close()

    async def read_one(self, connection: Connection, page: str) -> None:
        began = time.monotonic()
        try:
            answer = await asyncio.wait_for(connection.ask(page), MAX_ANSWER_S)
            status = str(answer[0])
        except (OSError, asyncio.IncompleteReadError, IndexError) as error:
            status = type(error).__name__
            connection.close()
        self.answers.statuses[status] += 1
        self.answers.seconds.append(time.monotonic() - began)


async def upload(service: WebService, authors: list[list[str]]) -> dict:
    """Run the program that uploads, and return its report."""
    order = {"address": service.address, "bytes": UPLOAD_BYTES, "authors": authors}
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.soak.uploaders"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=settings.BASE_DIR,
    )
    output, _ = await program.communicate(json.dumps(order).encode())
    assert program.returncode == 0
    report: dict = json.loads(output)
    return report


async def crowd(
    service: WebService, authors: list
) -> tuple[dict, list[Answers], list[float]]:
    """Let the readers read before, with and after the uploads.

    Return the report of the uploads, the answers of each phase, and the memory of the
    web process in MiB: before the uploads, at most, and at the end.
    """
    memory = service.memory
    readers = Readers(service.address)
    tasks = [asyncio.create_task(readers.read(number)) for number in range(READERS)]
    before = readers.begin_phase()
    await asyncio.sleep(ALONE_S)
    memory.forget()
    used = [memory.now()]
    meanwhile = readers.begin_phase()
    report = await upload(service, authors)
    after = readers.begin_phase()
    await asyncio.sleep(ALONE_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(1)  # the loop closes the connections
    used += [memory.peak(), memory.now()]
    return report, [before, meanwhile, after], used


def stored(service: WebService) -> tuple[int, int]:
    """Return the number of different submissions, and of their files."""
    query = "SELECT count(DISTINCT digest) FROM bots_submission WHERE status = %s"
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        row = connection.execute(query, ["uploaded"]).fetchone()
    files = [
        file
        for file in (service.folder / "data" / "submissions").rglob("*")
        if file.is_file() and file.stat().st_size > UPLOAD_BYTES
    ]
    assert row is not None
    return row[0], len(files)


@pytest.mark.usefixtures("_servers")
def test_nobody_is_refused_while_two_hundred_authors_upload() -> None:
    with web_service("--bots=200", "--games=3000", TORRES_PROXIES="1") as service:
        authors = service.shell(AUTHORS)
        assert isinstance(authors, list)
        assert service.process is not None
        with open_files(service.process.pid) as files:
            report, phases, used = asyncio.run(crowd(service, authors))
        submissions, packages = stored(service)
        log = service.log.read_text()

    seconds = report["seconds"]
    print(
        f"\nweb process: {used[0]:.0f} MiB before the uploads, at most {used[1]:.0f}"
        f" MiB, {used[2]:.0f} MiB at the end; at most {files[0]} open files"
    )
    print(
        f"{UPLOADS} uploads in {seconds[-1]:.1f} s, median"
        f" {statistics.median(seconds):.1f} s; responses {report['statuses']}, repeated"
        f" {len(report['pauses'])}"
    )
    for name, answers in zip(("before", "with", "after"), phases, strict=True):
        print(f"readers {name} the uploads: {answers}; {dict(answers.statuses)}")
    assert report["errors"] == []
    assert report["statuses"] == {"202": UPLOADS}
    assert report["pauses"] == []
    assert len(set(report["submissions"])) == submissions == packages == UPLOADS
    for answers in phases:
        assert set(answers.statuses) == {"200"}
    assert used[1] - used[0] < MAX_GROWTH_MIB
    assert '"level": "error"' not in log, log[-5000:]
