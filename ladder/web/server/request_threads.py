"""The threads of the web server: some for pages, others for uploads.

An upload is unpacked and stored for up to a second or more. Uploads that arrive
together would occupy all threads, and every page would wait behind them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, TypeVar

PAGE_THREADS = 8
# Few, because an upload needs a processor. With more of them each would only take
# longer, and the limits of the process that unpacks it include the waiting time.
UPLOAD_THREADS = 3

P = ParamSpec("P")
T = TypeVar("T")


class RequestThreads:
    """Runs functions in threads, in the order in which they arrive.

    The process ends without waiting for them, unlike for those of ThreadPoolExecutor.
    """

    def __init__(self, name: str, count: int) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        for _ in range(count):
            Thread(target=self._work, name=name, daemon=True).start()

    async def run(
        self, function: Callable[P, T], *args: P.args, **words: P.kwargs
    ) -> T:
        """Return what a function returns, or raise what it raises."""
        future: Future[T] = Future()
        self._calls.put((future, lambda: function(*args, **words)))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            future, call = self._calls.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # noqa: BLE001 -- the caller gets it
                    future.set_exception(error)
            del future, call  # a waiting thread keeps no response
