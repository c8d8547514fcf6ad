"""Makes questions and players, and plays small games without the rules of Torres."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from engine.referee import Ask, Hello, PlayerFault
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox
from torres.runner.sandbox.cgroup_mounts import find

PROGRAMS = Path(__file__).parent / "programs"
HELLO = Hello("yucata", {}, seats=2, seat=0, seed="seed", limits={})
STATE = {"phase": 1, "heights": [[0] * 8] * 8}


def ask(ply: int = 3, **changes: object) -> Ask:
    fields: dict[str, object] = {
        "decision": "turn",
        "ply": ply,
        "state": STATE,
        "events": [],
        "legal": ["buy", "end"],
        "move_ms": 4_000,
        "bank_ms": 0,
        **changes,
    }
    return Ask(**fields)  # type: ignore[arg-type]


def player(
    path: Path,
    sandbox: Sandbox,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
) -> BotProcess:
    program = dataclasses.replace(locate(path), env=env or {})
    return BotProcess(program, sandbox, limits)


@dataclasses.dataclass
class BotContest:
    """Why the first seat forfeited, if it did, and how often each seat answered."""

    fault: PlayerFault | None
    bot: BotProcess
    answers: int
    opponent_answers: int
    stderr: str


def contest(
    bot: BotProcess,
    sandbox: Sandbox,
    rounds: int = 3,
    move_ms: float = 4_000,
    against: BotProcess | None = None,
) -> BotContest:
    """Ask ``bot`` and an honest opponent in turn, the opponent also after a fault.

    ``against`` is an opponent that has started; it is not ended here, so that it can
    play another game.
    """
    opponent = against or player(PROGRAMS / "first.py", sandbox)
    if against is None:
        opponent.start(dataclasses.replace(HELLO, seat=1))
    fault = None
    answers = 0
    opponent_answers = 0
    try:
        bot.start(HELLO)
    except PlayerFault as caught:
        fault = caught
        bot.forfeit(caught.reason, caught.detail)
    for ply in range(rounds):
        if fault is None:
            try:
                bot.decide(ask(ply, move_ms=move_ms))
                answers += 1
            except PlayerFault as caught:
                fault = caught
                bot.forfeit(caught.reason, caught.detail)
        opponent_answers += opponent.decide(ask(ply)).index == 0
    if fault is None:
        bot.end([0, 1], [2, 1], "completed")
    if against is None:
        opponent.end([0, 1], [2, 1], "completed")
    stderr = bot._pipes.stderr.decode(errors="replace")
    return BotContest(fault, bot, answers, opponent_answers, stderr)


def survivors() -> list[str]:
    """Return the stat lines of the processes with user ids of our slots that still run.

    Only children of this process and of PID 1 count, because other test runs on the
    machine may use the same user ids.
    """
    first, last = (int(word) for word in os.environ["TORRES_SLOT_UIDS"].split("-"))
    left = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and first <= process.stat().st_uid <= last:
                line = (process / "stat").read_text()
                state, parent = line.rpartition(")")[2].split()[:2]
                if state not in "ZX" and int(parent) in {1, os.getpid()}:
                    left.append(line)
        except OSError:
            continue
    return left


def groups_left() -> list[Path]:
    """Return the bots' control groups of this process that still exist.

    Groups without limits are left out: they were made in advance for the next bot.
    """
    groups = [
        bot
        for hierarchy in find()
        for place in (hierarchy.here / "torres").glob(f"{os.getpid()}-*")
        for bot in place.iterdir()
        if bot.is_dir()
    ]
    limits = [group / "pids.max" for group in groups if (group / "pids.max").exists()]
    unused = {file.parent.name for file in limits if file.read_text() == "max\n"}
    return [group for group in groups if group.name not in unused]
