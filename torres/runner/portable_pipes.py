"""The pipes of a bot on systems other than Linux: a thread serves each of them.

It offers the same as `BotPipes`, as far as every system can: it is unknown how much of
a question the bot has read.
"""

import os
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO

from torres.runner.lines import BotOutput, StdoutClosed, take_line
from torres.runner.polling import TimedPoll
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Running

_CHUNK_BYTES = 65_536
_JOIN_TIMEOUT_S = 0.5


class PortablePipes(BotOutput):
    """Our ends of a bot's pipes. Only one thread may use them."""

    def __init__(self, bot: Running, limits: Limits, log: BinaryIO | None) -> None:
        super().__init__(limits, log)
        self._descriptors = (bot.stdin, bot.stdout, bot.stderr)
        self._chunks: SimpleQueue[bytes] = SimpleQueue()
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._stdin_closed = False
        self.poll = TimedPoll()  # it only adds up how long we waited for the bot
        self._threads = [
            Thread(target=target, daemon=True)
            for target in (self._write_lines, self._read_stdout, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()

    def early(self) -> bytes | None:
        """Return the output that the bot wrote before it was asked, or None."""
        while not self._chunks.empty():
            try:
                self._add(self._chunks.get())
            except StdoutClosed:
                self._chunks.put(b"")
                break
        return bytes(self._received) or None

    def unread_by_bot(self) -> int:
        """Return 0: this system does not tell what a process has read."""
        return 0

    def send(self, line: bytes) -> None:
        """Hand a line to the thread that writes to the bot."""
        self._lines.put(line)

    def receive(self, wait_ms: float, next_wait_ms: Callable[[], float]) -> bytes:
        """Return the bot's next line without its newline, as `BotPipes.receive`."""
        ends = time.monotonic() + wait_ms / 1e3
        while True:
            line = take_line(self._received, self._max_line)
            if line is not None:
                return line
            self._limit_stderr()
            chunk = self._wait(ends)
            if chunk is None:
                ends = time.monotonic() + next_wait_ms() / 1e3
            else:
                self._add(chunk)

    def flush(self, next_wait_ms: Callable[[], float]) -> None:
        """Do nothing: the thread that writes needs no help."""

    def drain_stderr(self) -> None:
        """Wait until the rest of stderr was read, after the bot has ended."""
        self._threads[2].join(_JOIN_TIMEOUT_S)

    def close_stdin(self) -> None:
        """Close the bot's stdin when all lines are written."""
        if not self._stdin_closed:
            self._stdin_closed = True
            self._lines.put(b"")

    def close(self) -> None:
        """Close all pipes. ``pending`` and ``stderr`` stay readable.

        A pipe that a process of the bot still holds stays open with its thread.
        """
        self.close_stdin()
        for thread in self._threads:
            thread.join(_JOIN_TIMEOUT_S)

    def _wait(self, ends: float) -> bytes | None:
        """Return the next output, or None if there is none at a time on our clock."""
        started = time.monotonic()
        try:
            return self._chunks.get(timeout=max(0.0, ends - started))
        except Empty:
            return None
        finally:
            self.poll.slept_ns += int((time.monotonic() - started) * 1e9)

    def _add(self, chunk: bytes) -> None:
        self._received += chunk
        self._count_stdout(chunk)

    # --- the threads; each one closes its descriptor when it ends

    def _write_lines(self) -> None:
        stdin = self._descriptors[0]
        try:
            while line := self._lines.get():
                while line:
                    line = line[os.write(stdin, line) :]
        except OSError:
            pass  # the bot closed its stdin; its stdout tells whether it ended
        finally:
            os.close(stdin)

    def _read_stdout(self) -> None:
        for chunk in _chunks_of(self._descriptors[1]):
            self._chunks.put(chunk)
        self._chunks.put(b"")

    def _read_stderr(self) -> None:
        for chunk in _chunks_of(self._descriptors[2]):
            if self.stderr_bytes <= self._max_stderr:
                self._keep_stderr(chunk)


def _chunks_of(descriptor: int) -> Iterator[bytes]:
    """Yield what is read from a pipe until its end, and close it."""
    try:
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            yield chunk
    except OSError:
        pass  # the other end is gone
    finally:
        os.close(descriptor)
