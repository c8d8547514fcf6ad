"""Real bots, real sandboxes: what the tests of this room share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder.runner.languages import locate
from ladder.runner.process import BotProcess
from ladder.runner.sandbox import Sandbox

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module", params=["none", "full"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """The same test at each level."""
    made: Sandbox = request.getfixturevalue(request.param)
    return made


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
