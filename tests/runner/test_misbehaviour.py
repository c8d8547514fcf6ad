"""Real bots that misbehave: each forfeits for the right reason, which is explained."""

import contextlib
import dataclasses
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from engine.game import TorresGame
from engine.referee import MAX_DETAIL_CHARS, PlayerFault, ServiceFault, play, serving
from engine.rulesets import resolve
from engine.setup import derive
from tests.runner.factories import HELLO, PROGRAMS, ask, contest, groups_left, player
from torres.runner.clock import Charge, Stopwatch
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import STDERR_TAIL_BYTES, Limits
from torres.runner.sandbox import Sandbox, landlock, process_tree, unconfined
from torres.runner.sandbox.api import Exit
from torres.runner.sandbox.bubblewrap import BubblewrapSandbox
from torres.runner.sandbox.host import Host
from torres.runner.verdict import Verdict

FAULTS = {
    # at the start
    "crash_at_start": ("crash", "exit code 1, at start"),
    "not_a_program": ("crash", "exit code 1, at start"),
    "exit_zero": ("crash", "exit code 0, at start"),
    "mute": ("timeout", "its start took"),
    # wrong shapes
    "nonsense": ("protocol", "I would like to end my turn"),
    "both": ("protocol", 'both "actions" and "index"'),
    "deep": ("protocol", "nested too deeply"),
    "huge_number": ("protocol", "out of range"),
    "not_utf8": ("protocol", "invalid UTF-8"),
    "nan": ("protocol", "malformed"),
    "nul": ("protocol", "trailing characters"),
    # at the wrong time
    # (it is chance whether the line is there before the question, or is written before
    # the bot has read the question: both details have this word)
    "twice": ("protocol", "before"),
    "unread": ("protocol", "before"),
    "early": ("protocol", "before"),
    # too much
    "long_line": ("output", "a line of more than 65536 bytes"),
    "flood_lines": ("output", "more than 1048576 bytes in all on stdout"),
    "flood_stderr": ("output", "more than 16777216 bytes on stderr"),
    # too long
    "never_reads": ("timeout", "the decision turn at ply 0 took"),
    "half_line": ("timeout", "the decision turn at ply 0 took"),
    "slow_bytes": ("timeout", "the decision turn at ply 0 took"),
    "stop_itself": ("timeout", "the decision turn at ply 0 took"),
    "spin": ("timeout", "the decision turn at ply 0 took"),
    "spin_threads": ("timeout", "the decision turn at ply 0 took"),
    "sleep": ("timeout", "the decision turn at ply 0 took"),
    # ended
    "close_stdout": ("crash", "it closed its stdout"),
    "close_all": ("crash", "it closed its stdout"),
    "exit_at_answer": ("crash", "exit code 7, at turn at ply 0"),
    "exit_minus_one": ("crash", "exit code 255, at turn at ply 0"),
    "exit_after_answer": ("crash", "exit code 0, at turn at ply 1"),
    "segfault": ("crash", "killed by signal 11 (Segmentation fault), at turn at ply 0"),
    "abort": ("crash", "killed by signal 6 (Aborted), at turn at ply 0"),
    # as if the machine had done it
    "exit_as_if_killed": ("crash", "exit code 137, at turn at ply 0"),
    "kill_itself": ("crash", "killed by signal 9 (Killed), at turn at ply 0"),
    "cpu_limit": ("crash", "killed by signal 9 (Killed), at turn at ply 0"),
}
ONLY_FULL = {
    "kill_everything": ("crash", "killed by signal 9 (Killed), at turn at ply 0"),
    # Without namespaces a child outlives its parent and holds the pipes: a timeout.
    "child_keeps_stdout": ("crash", "exit code 3, at turn at ply 0"),
}
LIMITS = Limits(start_ms=1_500)
GAME_LIMITS = Limits().as_dict()


def check(name: str, sandbox: Sandbox, reason: str, detail: str) -> Verdict:
    bot = player(PROGRAMS / f"{name}.py", sandbox, LIMITS)

    # Only a bot that must run out of time gets little of it: the machine may be slow.
    move_ms = 300 if reason == "timeout" else 20_000
    game = contest(bot, sandbox, move_ms=move_ms)

    assert game.fault is not None
    assert (game.fault.reason, detail in game.fault.detail) == (reason, True), (
        game.fault
    )
    assert game.opponent_answers == 3
    assert bot.verdict is not None
    assert bot.verdict.reason == reason
    return bot.verdict


@pytest.fixture
def enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide that the kernel kills for a lack of memory in tests beside this one.

    Without control groups only the machine's count can tell whether it did that.
    """
    for module in (unconfined, process_tree):
        monkeypatch.setattr(module, "machine_oom_kills", lambda: 0)


@pytest.mark.usefixtures("enough_memory")
@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_has_the_right_reason_and_detail(name: str, sandbox: Sandbox) -> None:
    check(name, sandbox, *FAULTS[name])

    assert groups_left() == []


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ONLY_FULL)
def test_the_fault_has_the_right_reason_at_level_full(name: str, full: Sandbox) -> None:
    check(name, full, *ONLY_FULL[name])


@pytest.mark.sandbox
def test_a_bot_that_answers_twice_is_always_caught_at_the_same_decision(full) -> None:
    details = set()
    for _ in range(10):
        game = contest(player(PROGRAMS / "twice.py", full), full)
        assert game.fault is not None
        details.add((game.answers, game.fault.reason))

    assert details == {(1, "protocol")}


def test_unknown_messages_keys_and_notes_are_no_fault(sandbox: Sandbox) -> None:
    bot = player(PROGRAMS / "talkative.py", sandbox)
    bot.start(HELLO)

    answer = bot.decide(ask())
    bot.end([0, 1], [2, 1], "completed")

    assert (answer.index, answer.note) == (0, "legal False")


def test_a_bot_may_leave_orphans_behind(sandbox: Sandbox) -> None:
    bot = player(PROGRAMS / "orphans.py", sandbox)

    game = contest(bot, sandbox)

    assert (game.fault, game.answers) == (None, 3)


def test_a_bot_that_ignores_the_end_is_killed(sandbox: Sandbox) -> None:
    bot = player(PROGRAMS / "ignores_everything.py", sandbox)

    game = contest(bot, sandbox)

    assert game.fault is None
    assert bot.exit is not None


def test_kill_may_be_called_twice_and_before_the_start(sandbox: Sandbox) -> None:
    bot = player(PROGRAMS / "first.py", sandbox)
    bot.kill()
    bot.start(HELLO)
    bot.kill()
    bot.kill()
    bot.forfeit("timeout", "late")
    bot.end([0], [1], "completed")


def test_the_verdict_has_the_evidence_for_the_owner(sandbox: Sandbox) -> None:
    verdict = check("log_much", sandbox, "crash", "exit code 1, at turn at ply 0")

    assert (verdict.decision, verdict.ply, verdict.move_ms) == ("turn", 0, 20_000)
    assert verdict.sent.startswith(b'{"type":"decide","decision":"turn","ply":0,')
    assert str(verdict.exit) == "exit code 1"
    assert verdict.charge is not None
    assert verdict.charge.ms > 0
    assert len(verdict.stderr) == STDERR_TAIL_BYTES == 65_536
    assert verdict.stderr.endswith(b"last words\n")


def test_the_verdict_quotes_the_last_output(sandbox: Sandbox) -> None:
    verdict = check("nonsense", sandbox, "protocol", "I would like")

    assert verdict.received == b"I would like to end my turn"


def test_stderr_is_logged_byte_for_byte(sandbox: Sandbox, tmp_path: Path) -> None:
    log = tmp_path / "seat-0.log"
    bot = BotProcess(
        player(PROGRAMS / "log_html.py", sandbox)._program, sandbox, log=log
    )
    bot.start(HELLO)
    with pytest.raises(PlayerFault, match="crash"):
        bot.decide(ask())

    expected = "<script>alert(1)</script>\x1b[2J\x00\xff\n".encode()
    assert log.read_bytes() == expected
    assert bot.verdict is not None
    assert bot.verdict.stderr == expected


def test_the_protocol_log_has_every_raw_line(sandbox: Sandbox) -> None:
    lines: list[tuple[str, int, bytes]] = []
    program = player(PROGRAMS / "first.py", sandbox)._program
    bot = BotProcess(program, sandbox, protocol_log=lambda *line: lines.append(line))
    bot.start(dataclasses.replace(HELLO, seat=1))
    bot.decide(ask())
    bot.end([0, 1], [2, 1], "completed")

    starts = [(way, seat, line.split(b",")[0]) for way, seat, line in lines]
    assert starts == [
        ("sent", 1, b'{"type":"hello"'),
        ("received", 1, b'{"type":"ready"}'),
        ("sent", 1, b'{"type":"decide"'),
        ("received", 1, b'{"index":0}'),
        ("sent", 1, b'{"type":"end"'),
    ]


@pytest.mark.sandbox
def test_a_bot_that_is_killed_with_its_sandbox_is_the_service_s_fault(full) -> None:
    """An operator, or a service that guards the memory of the host, kills it."""
    bot = player(PROGRAMS / "first.py", full)
    bot.start(dataclasses.replace(HELLO, seat=1))
    for pid in set(bot._bot.threads()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(ServiceFault, match="killed from outside at turn") as caught:
        bot.decide(ask())

    assert caught.value.seat == 1
    assert bot.verdict is None
    assert bot.evidence().exit == Exit(None, 9, by_host=True)
    assert groups_left() == []


@pytest.mark.parametrize("code", [127, 128, 134, 137, 139, 143, 192, 255])
def test_an_exit_code_is_never_taken_for_a_signal(sandbox: Sandbox, code: int) -> None:
    """A shell, and our supervisor before, reports signal n as exit code 128 + n."""
    path = PROGRAMS / "exit_as_if_killed.py"
    bot = player(path, sandbox, env={"CODE": str(code)})
    bot.start(HELLO)

    with pytest.raises(PlayerFault, match=f"exit code {code}, at turn"):
        bot.decide(ask())

    assert bot.exit == Exit(code, None)


def test_a_bot_that_this_service_stops_is_not_at_fault(sandbox: Sandbox) -> None:
    """The heartbeat kills the bots of a game whose lease is lost."""
    bot = player(PROGRAMS / "sleep.py", sandbox)
    bot.start(dataclasses.replace(HELLO, seat=1))
    stopping = threading.Timer(0.2, bot.kill)
    stopping.start()

    with pytest.raises(ServiceFault) as caught, serving(1):
        bot.decide(ask(move_ms=60_000))

    stopping.join()
    bot.kill()
    assert caught.value.seat == 1
    assert bot.verdict is None


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("exit_as_if_killed", Exit(137, None)),
        ("kill_itself", Exit(None, 9)),
        ("kill_everything", Exit(None, 9)),
    ],
)
def test_landlock_tells_an_exit_code_from_a_kill(name: str, ended: Exit, full) -> None:
    if not landlock.is_supported():
        pytest.skip("this kernel has no Landlock, or one that is too old")
    sandbox = landlock.LandlockSandbox(Host.from_environment())
    bot = player(PROGRAMS / f"{name}.py", sandbox)
    bot.start(HELLO)

    with pytest.raises(PlayerFault, match="crash"):
        bot.decide(ask(move_ms=20_000))

    assert bot.exit == ended
    sandbox.close()


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ["exit_as_if_killed", "kill_everything"])
def test_bubblewrap_tells_an_exit_code_from_a_kill(name: str, full: Sandbox) -> None:
    """In bwrap a bot is PID 1, so it cannot kill itself."""
    sandbox = BubblewrapSandbox(Host.from_environment(), None)
    bot = player(PROGRAMS / f"{name}.py", sandbox)
    bot.start(HELLO)

    with pytest.raises(PlayerFault, match="exit code 137, at turn"):
        bot.decide(ask(move_ms=20_000))

    sandbox.close()


@pytest.mark.sandbox
def test_a_kill_for_a_lack_of_memory_of_the_host_is_not_the_bot_s_fault(full) -> None:
    """The group above the bot stands for the host: its limit is the lower one."""
    bot = player(PROGRAMS / "over_memory.py", full, Limits(memory_mb=512))
    bot.start(HELLO)
    parent = bot._bot._control._memory.path.parent  # type: ignore[attr-defined]
    names = ("memory.max", "memory.limit_in_bytes")
    limit = next(parent / name for name in names if (parent / name).exists())
    before = limit.read_text()
    limit.write_text(str(128 << 20))
    try:
        with pytest.raises(ServiceFault, match="the machine ran out of memory"):
            bot.decide(ask(move_ms=20_000))
    finally:
        limit.write_text("-1" if limit.name == names[1] else before)
    assert bot.evidence().counters["oom_kills"] > 0


@pytest.mark.sandbox
def test_a_bot_at_its_own_memory_limit_forfeits(full) -> None:
    game = contest(
        player(PROGRAMS / "over_memory.py", full, Limits(memory_mb=64)), full
    )

    assert game.fault is not None
    assert game.fault.reason == "memory"


def test_a_missing_program_is_the_service_s_fault(none: Sandbox) -> None:
    program = player(PROGRAMS / "first.py", none)._program
    unknown = dataclasses.replace(program, argv=("no-such-interpreter", "x"))

    with pytest.raises(ServiceFault, match="is not installed"):
        BotProcess(unknown, none).start(HELLO)


def test_a_refusal_longer_than_the_pipe_does_not_break_the_referee(
    sandbox: Sandbox,
) -> None:
    """The forfeit line quoted 60 KB of the bot and outlived the bot's stdin."""
    rules = resolve("yucata", 2)
    names = ("long_refusal", "first")
    players = [player(PROGRAMS / f"{name}.py", sandbox) for name in names]

    record = play(
        TorresGame(rules, derive(rules, "s")), players, seed="s", limits=GAME_LIMITS
    )

    (forfeit,) = record.forfeits
    assert (forfeit.seat, forfeit.reason) == (0, "illegal_action")
    assert len(forfeit.detail) <= MAX_DETAIL_CHARS
    assert groups_left() == []


@pytest.mark.sandbox
def test_short_lived_children_excuse_a_timeout_at_most_once(full: Sandbox) -> None:
    """Bursts of children raise the pressure of the bot's own control group."""
    path = PROGRAMS / "short_lived.py"
    bot = BotProcess(locate(path), full, strict_clock=True)
    bot.start(HELLO)

    with pytest.raises(PlayerFault) as fault:
        bot.decide(ask(move_ms=2_000))

    assert fault.value.reason == "timeout"


@pytest.mark.sandbox
@pytest.mark.parametrize(("flood", "reason"), [("", "timeout"), ("1", "output")])
def test_a_bot_that_still_listens_is_told_why_it_forfeits(
    full: Sandbox, flood: str, reason: str
) -> None:
    bot = player(PROGRAMS / "listens.py", full, env={"FLOOD": flood})

    ended = contest(bot, full, move_ms=500)

    assert ended.fault is not None
    assert ended.fault.reason == reason
    assert f"told: {reason}" in ended.stderr


@pytest.mark.sandbox
@pytest.mark.parametrize("strict", [False, True])
def test_a_decision_cannot_occupy_a_worker_without_end(
    full: Sandbox, *, strict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot whose waiting is not charged may take only a multiple of its budget."""
    monkeypatch.setattr(Stopwatch, "read", nothing_is_charged)
    bot = BotProcess(locate(PROGRAMS / "sleep.py"), full, strict_clock=strict)
    bot.start(HELLO)
    began = time.monotonic()

    with pytest.raises(PlayerFault if strict else ServiceFault) as fault:
        bot.decide(ask(move_ms=100))

    assert 5.3 <= time.monotonic() - began < 60
    assert strict or fault.value.seat == 0
    bot.kill()


def nothing_is_charged(watch: Stopwatch) -> Charge:
    """Measure as the clock does, as if the bot had waited for a processor all along."""
    charge = READ(watch)
    return dataclasses.replace(charge, ms=0.0, cpu_ms=0.0, waited_ms=charge.wall_ms)


READ = Stopwatch.read
