"""Two worker hosts and a server host as network namespaces, and links that are cut.

A cut is silent: the cable of a host leaves the switch, and no connection is closed.
"""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from tests.soak.factories import fleet, is_sound, wait_for_work

pytestmark = [
    pytest.mark.usefixtures("_servers"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
NET = "10.213.77"
PREFIX = f"t{os.getpid()}"  # short, since names of interfaces have at most 15 letters
SWITCH = f"{PREFIX}sw"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def undo(*words: str) -> None:
    subprocess.run(["ip", *words], check=False, capture_output=True)


class NetworkHost:
    """A network namespace with a cable to the switch, removed when the stack closes."""

    def __init__(self, stack: ExitStack, name: str, number: int) -> None:
        self.name = f"{PREFIX}{name}"
        self.address = f"{NET}.{number}"
        self.cable = f"{self.name}c"
        ip("netns", "add", self.name)
        stack.callback(partial(undo, "netns", "del", self.name))
        inner = ("name", "eth0", "netns", self.name)
        ip("link", "add", self.cable, "type", "veth", "peer", *inner)
        stack.callback(partial(undo, "link", "del", self.cable))
        self.plug()
        ip("link", "set", self.cable, "up")
        for words in (
            ("addr", "add", f"{self.address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            ip("-n", self.name, *words)

    @property
    def inside(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]

    def plug(self) -> None:
        ip("link", "set", self.cable, "master", SWITCH)

    def unplug(self) -> None:
        ip("link", "set", self.cable, "nomaster")


@contextmanager
def network() -> Iterator[list[NetworkHost]]:
    """Create a switch that connects this process and three hosts."""
    with ExitStack() as stack:
        try:
            ip("link", "add", SWITCH, "type", "bridge")
        except subprocess.CalledProcessError as why:
            pytest.skip(f"cannot create network interfaces here: {why.stderr}")
        stack.callback(partial(undo, "link", "del", SWITCH))
        ip("addr", "add", f"{NET}.1/24", "dev", SWITCH)
        ip("link", "set", SWITCH, "up")
        names = enumerate(("db", "one", "two"), start=2)
        yield [NetworkHost(stack, name, number) for number, name in names]


@pytest.mark.parametrize("seconds", [5, 30, 75])
def test_a_cut_link_loses_no_game_and_plays_none_twice(seconds):
    with network() as (db, one, two), fleet(db.address, db.inside) as service:
        service.open([one.inside, two.inside])
        wait_for_work(service, 90)
        service.until(lambda: bool(service.busy(0)), 60)

        one.unplug()
        threading.Event().wait(seconds)
        one.plug()
        back = wait_for_work(service)
        print(f"cut for {seconds} s: all at work {back:.0f} s after it", flush=True)

        report = service.settle()
        assert is_sound(report)
        print(service.manage("status"))


def test_the_service_goes_on_after_its_servers_were_cut_off():
    """Cut the link of the servers, so that workers and dispatcher reach nothing."""
    with network() as (db, one, two), fleet(db.address, db.inside) as service:
        service.open([one.inside, two.inside])
        service.until(lambda: len(service.busy()) > 1, 90)

        db.unplug()
        threading.Event().wait(40)
        db.plug()
        back = wait_for_work(service)
        print(f"servers cut off: all at work {back:.0f} s after it", flush=True)

        assert is_sound(service.settle())
