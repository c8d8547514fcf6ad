"""Small games without the rules: honest and hostile bots take turns to be asked."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from engine.referee import Ask, PlayerFault
from ladder.runner.languages import locate
from ladder.runner.process import BotProcess
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import Sandbox
from ladder.runner.sandbox.cgroup_mounts import find

PROGRAMS = Path(__file__).parent / "programs"
HELLO = {"type": "hello", "protocol": "torres/1", "seat": 0, "seats": 2}
STATE = {"phase": 1, "heights": [[0] * 8] * 8}


def ask(ply: int = 3, **changes: object) -> Ask:
    words: dict[str, object] = {
        "decision": "turn",
        "ply": ply,
        "state": STATE,
        "events": [],
        "legal": ["buy", "end"],
        "move_ms": 4_000,
        "bank_ms": 0,
        **changes,
    }
    return Ask(**words)  # type: ignore[arg-type]


def player(
    path: Path,
    sandbox: Sandbox,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
) -> BotProcess:
    box = dataclasses.replace(locate(path), env=env or {})
    return BotProcess(box, sandbox, limits)


@dataclasses.dataclass
class BotContest:
    """What came of a game: why the first seat forfeited, and what both answered."""

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
    """Ask ``bot`` and an honest opponent in turn; the opponent is always asked on.

    One that is given has started, and may go on to its next game.
    """
    opponent = against or player(PROGRAMS / "first.py", sandbox)
    if against is None:
        opponent.start({**HELLO, "seat": 1})
    fault, answers, others = None, 0, 0
    try:
        bot.start(HELLO)
    except PlayerFault as caught:
        fault = caught
    for ply in range(rounds):
        if fault is None:
            try:
                bot.decide(ask(ply, move_ms=move_ms))
                answers += 1
            except PlayerFault as caught:
                fault = caught
                bot.forfeit(caught.reason, caught.detail)
        others += opponent.decide(ask(ply)).index == 0
    if fault is None:
        bot.end([0, 1], [2, 1], "completed")
    if against is None:
        opponent.end([0, 1], [2, 1], "completed")
    return BotContest(
        fault, bot, answers, others, bot._pipes.stderr.decode(errors="replace")
    )


def survivors() -> list[str]:
    """Return what still runs under our slots' user ids and is ours, or nobody's.

    Other test runs on the machine may have the same slots.
    """
    first, last = (int(word) for word in os.environ["TORRES_SLOT_UIDS"].split("-"))
    left = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and first <= process.stat().st_uid <= last:
                said = (process / "stat").read_text()
                state, parent = said.rpartition(")")[2].split()[:2]
                if state not in "ZX" and int(parent) in {1, os.getpid()}:
                    left.append(said)
        except OSError:
            continue
    return left


def groups_left() -> list[Path]:
    """Return the bots' control groups of this process that still exist.

    But for those that are laid in for the next bot: they have no limits yet.
    """
    groups = [
        bot
        for hierarchy in find()
        for place in (hierarchy.here / "torres").glob(f"{os.getpid()}-*")
        for bot in place.iterdir()
        if bot.is_dir()
    ]
    limits = [group / "pids.max" for group in groups if (group / "pids.max").exists()]
    laid_in = {file.parent.name for file in limits if file.read_text() == "max\n"}
    return [group for group in groups if group.name not in laid_in]
