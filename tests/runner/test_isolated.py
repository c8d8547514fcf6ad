"""Level isolated: each bot has a kernel of its own, made by gVisor."""

import os
from pathlib import Path

import pytest

from engine.referee import PlayerFault
from tests.runner.factories import HELLO, PROGRAMS, ask, contest, groups_left, player
from torres.runner.protocol import Limits
from torres.runner.sandbox import Exit, Sandbox, SandboxUnavailable, opening
from torres.runner.sandbox.opening import open_sandbox, probe

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]
LOCKER = """
import fcntl, sys
lock = open("/usr/bin/env", "rb")
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print('{"index":0}', flush=True)
"""


def test_a_bot_plays_in_a_kernel_of_its_own(isolated: Sandbox, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    report = "import os, sys; print(os.uname().release, os.getuid(), file=sys.stderr)\n"
    bot.write_text(report + (PROGRAMS / "first.py").read_text())

    game = contest(player(bot, isolated), isolated)

    assert isolated.level == "isolated"
    assert game.fault is None
    assert game.answers == game.opponent_answers == 3
    release, uid = game.stderr.split()
    assert release != os.uname().release
    assert uid == "65534"
    assert groups_left() == []


def test_bots_share_no_locks(isolated: Sandbox, tmp_path: Path) -> None:
    """Both lock the same file of /usr; in one kernel, the second one would fail."""
    (tmp_path / "bot.py").write_text(LOCKER)
    bots = [player(tmp_path / "bot.py", isolated) for _ in range(2)]
    for bot in bots:
        bot.start(HELLO)

    assert [bot.decide(ask()).index for bot in bots] == [0, 0]

    for bot in bots:
        bot.kill()


@pytest.mark.parametrize(
    ("name", "reason", "ended"),
    [
        ("exit_as_if_killed", "crash", Exit(137, None)),
        ("kill_itself", "crash", Exit(137, None)),
        ("segfault", "crash", Exit(None, 11)),
        ("over_memory", "memory", None),
    ],
)
def test_a_bot_that_ends_itself_is_to_blame(
    name: str, reason: str, ended: Exit | None, isolated: Sandbox
) -> None:
    bot = player(PROGRAMS / f"{name}.py", isolated, Limits(memory_mb=96))
    bot.start(HELLO)

    with pytest.raises(PlayerFault) as caught:
        bot.decide(ask(move_ms=20_000))

    assert caught.value.reason == reason
    assert ended in {None, bot.exit}


def test_the_folder_of_a_bot_is_removed_after_its_game(isolated: Sandbox) -> None:
    folder = isolated._stage._own
    before = {*folder.iterdir()}
    bot = player(PROGRAMS / "first.py", isolated)
    bot.start(HELLO)
    (own,) = [path for path in folder.iterdir() if (path / "pid").exists()]

    bot.kill()

    assert not own.exists()
    assert {path for path in folder.iterdir() if path not in before} <= {
        folder / "root"
    }


def test_without_gvisor_the_level_is_full_and_the_package_is_named(
    full: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_of = opening._path_of
    monkeypatch.setattr(
        opening, "_path_of", lambda name: None if name == "runsc" else path_of(name)
    )
    opening._probe_isolated.cache_clear()
    try:
        report = probe("isolated")

        assert report.level == "full"
        assert "apt-get install runsc" in report.reasons()
        with pytest.raises(SandboxUnavailable, match=r"not isolated.*install runsc"):
            open_sandbox("isolated")
    finally:
        opening._probe_isolated.cache_clear()
