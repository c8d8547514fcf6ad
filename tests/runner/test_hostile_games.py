"""Whole games against three bots that misbehave at random: nobody else is harmed.

A failure names its game; `pytest -k "game-17]"` repeats it (with `-m soak` from the
thirteenth game on). The bots do the same again, as far as the machine lets them.
"""

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.game import TorresGame
from engine.referee import GameRecord, ServiceFault, play
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots import house_bots
from tests.runner.factories import (
    HELLO,
    PROGRAMS,
    groups_left,
    player,
    survivors,
)
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox, open_sandbox, probe
from torres.runner.sandbox.host import Host

SEATS = 4
DEFAULT_GAMES = 12
SOAK_GAMES = 200
HOUSE = house_bots.HOUSE_FOLDER
HONEST = (PROGRAMS / "first.py", HOUSE / "random", HOUSE / "greedy")
# Little time and memory, so that a bot that uses up either of them does it soon.
LIMITS = Limits(memory_mb=64, pids=32, start_ms=3_000, move_ms=300, bank_ms=700)


@dataclass(frozen=True)
class LeftBehind:
    """Everything that a game may leave on the host."""

    processes: list[str]
    groups: list[Path]
    descriptors: list[str]
    files: list[Path]

    @classmethod
    def now(cls) -> "LeftBehind":
        scratch = Host.from_environment().run_dir.rglob("*")
        return cls(
            survivors(),
            groups_left(),
            sorted(open_files()),
            sorted(path for path in scratch if "slots" not in path.parts),
        )


def open_files() -> Iterator[str]:
    """Yield what our descriptors refer to, with # for each number.

    The control groups of the next bot are always open already, and have new names after
    each game.
    """
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # it was the one of this listing
            yield re.sub(r"\d+", "#", str(descriptor.readlink()))


@pytest.fixture(scope="module")
def best(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Open the best sandbox of this machine, with a scratch folder of its own."""
    folder = tmp_path_factory.mktemp("run")
    for path in (folder, *folder.parents[:3]):
        path.chmod(0o755)  # bots read copies in it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORRES_RUN_DIR", str(folder))
        sandbox = open_sandbox(probe().level)
        print("level:", sandbox.level)
        a_game("warm-up", sandbox)  # loads modules and starts the zygote
        for program in HONEST:  # is copied now if bots cannot read this checkout
            bot = player(program, sandbox, LIMITS)
            bot.start(HELLO)
            bot.kill()
        yield sandbox
        sandbox.close()


def seats_of(name: str, sandbox: Sandbox) -> tuple[list[BotProcess], int]:
    """Return the players of a game, and the honest seat."""
    rng = random.Random(name)
    players = [player(PROGRAMS / "chaos.py", sandbox, LIMITS) for _ in range(SEATS)]
    honest = rng.randrange(SEATS)
    players[honest] = player(rng.choice(HONEST), sandbox, LIMITS)
    return players, honest


def a_game(name: str, sandbox: Sandbox) -> tuple[GameRecord | ServiceFault, int]:
    """Play a game; return its record, or the fault of the service, and honest seat."""
    rules = resolve("yucata", SEATS)
    players, honest = seats_of(name, sandbox)
    game = TorresGame(rules, derive(rules, name))
    result: GameRecord | ServiceFault
    try:
        result = play(game, players, seed=name, limits=LIMITS.as_dict())
    except ServiceFault as fault:
        result = fault
    finally:
        print(f"{name}: honest seat {honest}")
        for seat, bot in enumerate(players):
            if seat != honest and bot._running is not None:
                words = bot._pipes.stderr[-2_000:].split(b"\n")
                print(seat, [word for word in words if word.startswith(b"chaos")])
    return result, honest


def games() -> Iterator[object]:
    for number in range(SOAK_GAMES):
        marks = [pytest.mark.soak] if number >= DEFAULT_GAMES else []
        yield pytest.param(f"game-{number}", marks=marks, id=f"game-{number}")


@pytest.mark.parametrize("name", list(games()))
def test_hostile_seats_harm_nobody_else(name: str, best: Sandbox) -> None:
    before = LeftBehind.now()

    result, honest = a_game(name, best)

    after = LeftBehind.now()
    if isinstance(result, ServiceFault):
        print(f"{name}: {result} (seat {result.seat})")
        assert result.seat is not None
        assert result.seat != honest
    else:
        faults = {forfeit.seat: forfeit for forfeit in result.forfeits}
        for forfeit in result.forfeits:
            print(forfeit)
        assert honest not in faults
        assert len(result.result["ranks"]) == SEATS
    assert after == before
