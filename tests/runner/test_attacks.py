"""The attack programs against level full: each is held, and the opponent plays on."""

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.factories import contest, groups_left, player, survivors
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox
from torres.runner.sandbox.bubblewrap import BubblewrapSandbox
from torres.runner.sandbox.cgroup_manager import CgroupManager
from torres.runner.sandbox.gvisor import GvisorSandbox
from torres.runner.sandbox.host import Host

pytestmark = pytest.mark.sandbox
ATTACKS = Path(__file__).parent / "attacks"
FORFEITS = {
    "mem_heap": {"memory"},
    "mem_mmap_private": {"memory"},
    "mem_mmap_shared": {"memory"},
    "mem_memfd": {"memory"},
    "mem_children": {"memory"},
    "fork_bomb": {"timeout", "memory"},
    "fork_sessions": {"timeout", "memory"},
}
"""The attacks that cost the attacker its seat. All others fail and have no effect."""
THROUGH_BUBBLEWRAP = {"chan_descriptor_numbers"}
"""It mounts a whole /proc, and a process with Landlock could not mount anything."""
THROUGH_TO_GVISOR = {
    *("chan_descriptor_numbers", "chan_host_counters", "file_evict_cache"),
    *("file_host_facts", "file_lock_channel", "file_other_bots", "fork_core_dump"),
    *("mem_record_locks", "priv_risky_calls", "priv_set_uid", "priv_terminal"),
    "proc_oom_score",
}
"""They reach only the bot's own kernel, which refuses a call with EPERM, keeps locks,
and shows numbers of its own."""
FORFEITS_TO_GVISOR = {
    # It refuses no process and no thread, and it keeps files in its own memory.
    "fork_count": {"memory", "crash"},
    "fork_threads": {"timeout", "memory", "crash"},
    "mem_many_files": {"memory"},
}
NAMES = sorted(p.stem for p in ATTACKS.glob("*.py") if p.stem != "kit")
OF_EACH_FAMILY = [
    *("chan_host_counters", "file_lock_channel", "fork_bomb", "mem_heap"),
    *("net_inet_tcp", "priv_user_namespace", "proc_worker_memory"),
]
LIMITS = Limits(memory_mb=96)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Targets on the host, and the environment by which the attacks know them."""
    folder = tmp_path_factory.mktemp("host")
    folder.chmod(0o755)
    secret = folder / "secret"
    secret.write_text("the queue's password")
    secret.chmod(0o644)
    name = f"torres-test-{os.getpid()}"
    os.environ["TESTS_SECRET"] = "sesame-whole"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        unix.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        abstract.bind("\0" + name)
        unix.listen()
        abstract.listen()
        yield {
            "HOST_PID": str(os.getpid()),
            "HOST_PORT": str(tcp.getsockname()[1]),
            "HOST_SOCKET": str(folder / "socket"),
            "HOST_ABSTRACT": name,
            "HOST_SECRET_FILE": str(secret),
            "HOST_SECRET_PART": "sesame",
            "HOST_USER_HOME": str(Path.home()),
            "HOST_OTHER_BOT": str(Path(__file__).parent / "programs"),
        }
    del os.environ["TESTS_SECRET"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, host: dict[str, str]) -> Path:
    """The attacks as an uploaded folder, with a link to a file outside of it."""
    copy = tmp_path_factory.mktemp("upload") / "attacks"
    shutil.copytree(ATTACKS, copy)
    (copy / "link-to-the-secret").symlink_to(host["HOST_SECRET_FILE"])
    return copy


@pytest.fixture(scope="module")
def bubblewrap(full: Sandbox) -> Iterator[Sandbox]:
    """Level full as a user reaches it to whom control groups are delegated."""
    if isinstance(full, BubblewrapSandbox):
        pytest.skip("level full uses Bubblewrap on this machine anyway")
    sandbox = BubblewrapSandbox(Host.from_environment(), CgroupManager.open())
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_attack_is_held(
    name: str, full: Sandbox, folder: Path, host: dict[str, str]
) -> None:
    assert_held(name, full, folder, host)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_the_attack_is_held_in_bubblewrap(
    name: str, bubblewrap: Sandbox, folder: Path, host: dict[str, str]
) -> None:
    assert_held(name, bubblewrap, folder, host)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_EACH_FAMILY)
def test_an_attack_of_each_family_is_held_at_level_isolated(
    name: str, isolated: Sandbox, folder: Path, host: dict[str, str]
) -> None:
    assert_held(name, isolated, folder, host)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_the_attack_is_held_at_level_isolated(
    name: str, isolated: Sandbox, folder: Path, host: dict[str, str]
) -> None:
    assert_held(name, isolated, folder, host)


def assert_held(
    name: str, sandbox: Sandbox, folder: Path, host: dict[str, str]
) -> None:
    bot = player(folder / f"{name}.py", sandbox, LIMITS, host)

    game = contest(bot, sandbox, move_ms=1_500 if "fork" in name else 15_000)

    expected = FORFEITS.get(name)
    known: set[str] = set()
    if isinstance(sandbox, BubblewrapSandbox):
        known = THROUGH_BUBBLEWRAP
        if name == "mem_many_files":
            expected = {"memory"}  # bwrap cannot limit the number of files.
    if isinstance(sandbox, GvisorSandbox):
        known = THROUGH_TO_GVISOR
        expected = FORFEITS_TO_GVISOR.get(name, expected)
    if expected:
        assert game.fault is not None
        assert game.fault.reason in expected, game.fault
    else:
        assert game.fault is None, f"{game.fault} {game.stderr}"
        expected_report = "THROUGH" if name in known else "HELD"
        assert game.stderr.startswith(expected_report), game.stderr
        assert game.answers == 3
    assert game.opponent_answers == 3
    assert survivors() == []
    assert groups_left() == []


def test_a_second_game_finds_nothing_of_the_first(full, folder, host) -> None:
    for _ in range(2):
        bot = player(folder / "state_between_games.py", full, LIMITS, host)
        assert contest(bot, full).stderr.startswith("HELD")


def test_there_are_at_least_sixty_attacks() -> None:
    assert len(NAMES) >= 60
