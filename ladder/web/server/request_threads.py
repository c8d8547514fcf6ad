"""The threads of the web server: some for pages, others for uploads.

An upload is unpacked and stored for up to a second or more. Uploads that arrive
together would occupy all threads, and every page would wait behind them.
"""

from typing import Any

from waitress.task import ThreadedTaskDispatcher

from ladder.web.middleware import bodies

PAGE_THREADS = 8
# Few, because an upload needs a processor. With more of them each would only take
# longer, and the limits of the process that unpacks it include the waiting time.
UPLOAD_THREADS = 3


class RequestThreads:
    """Gives each request to a thread. waitress calls this its task dispatcher."""

    def __init__(self) -> None:
        self._pages = ThreadedTaskDispatcher()
        self._pages.set_thread_count(PAGE_THREADS)
        self._uploads = ThreadedTaskDispatcher()
        self._uploads.set_thread_count(UPLOAD_THREADS)

    def add_task(self, channel: Any) -> None:
        """Serve the first request of a connection when a thread is free."""
        is_large = channel.requests[0].content_length > bodies.MAX_BODY_BYTES
        (self._uploads if is_large else self._pages).add_task(channel)

    def shutdown(self) -> None:
        """End the threads after the requests that they serve now."""
        for threads in (self._pages, self._uploads):
            threads.shutdown()
