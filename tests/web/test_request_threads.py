"""Uploads have threads of their own, so that pages do not wait behind them."""

import threading
from types import SimpleNamespace

import pytest

from ladder.web.middleware import bodies
from ladder.web.server.request_threads import (
    PAGE_THREADS,
    UPLOAD_THREADS,
    RequestThreads,
)

TIMEOUT_S = 30
LARGE = bodies.MAX_BODY_BYTES + 1


class WaitingRequest:
    """A connection whose request ends when the test says so."""

    def __init__(self, length: int) -> None:
        self.requests = [SimpleNamespace(content_length=length)]
        self.began, self.may_end, self.ended = (threading.Event() for _ in range(3))

    def service(self) -> None:
        self.began.set()
        self.may_end.wait(TIMEOUT_S)
        self.ended.set()

    def cancel(self) -> None:
        self.may_end.set()


@pytest.fixture
def threads():
    threads = RequestThreads()
    yield threads
    threads.shutdown()


def begun(requests: list[WaitingRequest]) -> int:
    return sum(each.began.is_set() for each in requests)


def test_pages_do_not_wait_behind_uploads(threads: RequestThreads) -> None:
    uploads = [WaitingRequest(LARGE) for _ in range(UPLOAD_THREADS + 5)]
    pages = [WaitingRequest(length) for length in (0, bodies.MAX_BODY_BYTES)]
    for each in (*uploads, *pages):
        threads.add_task(each)
    for each in (*uploads[:UPLOAD_THREADS], *pages):
        assert each.began.wait(TIMEOUT_S)

    assert begun(uploads) == UPLOAD_THREADS
    for each in (*uploads, *pages):
        each.may_end.set()
    for each in uploads:
        assert each.ended.wait(TIMEOUT_S)


def test_all_threads_of_pages_serve_pages(threads: RequestThreads) -> None:
    pages = [WaitingRequest(0) for _ in range(PAGE_THREADS)]
    for each in pages:
        threads.add_task(each)
    for each in pages:
        assert each.began.wait(TIMEOUT_S)
        each.may_end.set()
