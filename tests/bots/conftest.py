"""Real bots, real sandboxes: what the tests of this room share."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder.bots.process import BotProcess
from ladder.bots.runtimes import locate
from ladder.bots.sandbox import Level, Sandbox, SandboxUnavailable, open_sandbox

PROGRAMS = Path(__file__).parent / "programs"


def part_missing(why: str) -> None:
    """Skip, or fail where CI says that every part must be there."""
    if os.environ.get("TORRES_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)


def opened(level: Level) -> Iterator[Sandbox]:
    try:
        sandbox = open_sandbox(level)
    except SandboxUnavailable as why:
        part_missing(str(why))
    else:
        yield sandbox
        sandbox.close()


@pytest.fixture(scope="module")
def full() -> Iterator[Sandbox]:
    yield from opened("full")


@pytest.fixture(scope="module")
def none() -> Iterator[Sandbox]:
    yield from opened("none")


@pytest.fixture(scope="module", params=["none", "full"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """The same test at each level."""
    made: Sandbox = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session", autouse=True)
def own_slots() -> None:
    """Give each pytest worker its own user ids, so that it can look for survivors."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 62_000 + 50 * number
    os.environ["TORRES_SLOT_UIDS"] = f"{first}-{first + 49}"


Start = Callable[..., BotProcess]


@pytest.fixture
def bot() -> Iterator[Start]:
    """Make players of ``programs/``, and kill them when the test is over."""
    made: list[BotProcess] = []

    def make(name: str, sandbox: Sandbox, **options: object) -> BotProcess:
        path = PROGRAMS / name
        made.append(BotProcess(locate(path), sandbox, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for player in made:
        player.kill()
