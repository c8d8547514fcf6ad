"""Fixtures of this package: real bots in real sandboxes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.sandbox import Sandbox

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module", params=["none", "full"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Run the same test at both levels."""
    sandbox: Sandbox = request.getfixturevalue(request.param)
    return sandbox


Start = Callable[..., BotProcess]


@pytest.fixture
def bot() -> Iterator[Start]:
    """Make players of programs in ``programs/``, and kill them after the test."""
    players: list[BotProcess] = []

    def make(name: str, sandbox: Sandbox, **options: object) -> BotProcess:
        path = PROGRAMS / name
        player = BotProcess(locate(path), sandbox, **options)  # type: ignore[arg-type]
        players.append(player)
        return player

    yield make
    for player in players:
        player.kill()
