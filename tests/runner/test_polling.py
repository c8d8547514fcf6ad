"""The wait for a bot is measured without our own delays."""

import os
import select
import threading
from collections.abc import Iterator

import pytest

from torres.runner import polling

MS = 1_000_000
PAUSE = threading.Event()
POLLS = [polling._ClockTimedPoll, polling.timed_poll]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.fixture(params=POLLS, ids=["clock", "kernel"])
def poll(request: pytest.FixtureRequest, pipe: tuple[int, int]) -> polling.TimedPoll:
    poll: polling.TimedPoll = request.param()
    poll.register(pipe[0], select.POLLIN)
    return poll


def test_a_wait_counts(poll: polling.TimedPoll) -> None:
    assert poll.poll(30) == []

    assert poll.slept_ns >= 30 * MS


def test_a_gap_does_not_count_by_itself(poll: polling.TimedPoll) -> None:
    poll.poll(1)
    before_ns = poll.slept_ns
    PAUSE.wait(0.03)

    assert poll.slept_ns == before_ns


def test_a_gap_counts_if_nothing_came_meanwhile(poll: polling.TimedPoll) -> None:
    poll.poll(1)
    before_ns = poll.slept_ns
    PAUSE.wait(0.03)
    poll.count_gap()

    assert poll.slept_ns - before_ns >= 30 * MS


def test_a_gap_does_not_count_if_an_answer_came_meanwhile(
    poll: polling.TimedPoll, pipe: tuple[int, int]
) -> None:
    poll.poll(1)
    before_ns = poll.slept_ns
    PAUSE.wait(0.03)
    os.write(pipe[1], b"x")
    poll.count_gap()

    assert poll.slept_ns - before_ns < 10 * MS
    assert poll.poll(0) == [(pipe[0], select.POLLIN)]


def test_a_long_gap_counts_in_part(poll: polling.TimedPoll) -> None:
    """Our process was stopped, and the bot may have been stopped with it."""
    poll.poll(1)
    before_ns = poll.slept_ns
    PAUSE.wait(0.2)
    poll.count_gap()

    assert 50 * MS <= poll.slept_ns - before_ns < 100 * MS


def test_there_is_no_gap_before_the_first_wait(poll: polling.TimedPoll) -> None:
    PAUSE.wait(0.03)
    poll.count_gap()

    assert poll.slept_ns == 0
