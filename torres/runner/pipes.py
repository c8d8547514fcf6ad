"""Lines to and from one bot over its stdin, stdout and stderr.

A bot may do anything with its pipes. Nothing here blocks without end, because each wait
is limited by the caller, and nothing grows without limit: one line, the whole stdout
and the whole stderr have a maximum, and only the end of stderr stays in memory. This
module knows lines, not their meaning.
"""

import os
import select
import sys
import time
from collections.abc import Callable
from fcntl import ioctl
from termios import FIONREAD
from typing import BinaryIO

from engine.referee import PlayerFault
from torres.runner.lines import BotOutput, StdoutClosed, take_line
from torres.runner.polling import timed_poll
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Running
from torres.runner.sandbox.descriptors import unread

_CHUNK_BYTES = 16_384  # Python allocates this much per read; larger is slower
_ZERO_COUNT = bytes(4)


class BotPipes(BotOutput):
    """Our ends of a bot's pipes. Only one thread may use them."""

    def __init__(self, bot: Running, limits: Limits, log: BinaryIO | None) -> None:
        super().__init__(limits, log)
        self._stdin = bot.stdin
        self._stdout = bot.stdout
        self._stderr = bot.stderr
        self._unsent = b""
        self._polls_stdin = False
        self.poll = timed_poll()
        """Measures how long we have waited for the bot."""
        self.poll.register(self._stdout, select.POLLIN)
        self.poll.register(self._stderr, select.POLLIN)
        self._count = bytearray(4)
        self._only_stdout = [(self._stdout, select.POLLIN)]
        """The result of polling when there is output, and nothing else happened."""

    def early(self) -> bytes | None:
        """Return the output that the bot wrote before it was asked, or None."""
        ioctl(self._stdout, FIONREAD, self._count)
        if self._count == _ZERO_COUNT and not self._received:
            return None
        try:
            self._read_stdout()
        except StdoutClosed:
            if not self._received:
                return None
        return bytes(self._received)

    def unread_by_bot(self) -> int:
        """Return how many bytes of the sent lines the bot has not read yet."""
        ioctl(self._stdin, FIONREAD, self._count)
        if self._count == _ZERO_COUNT:
            return len(self._unsent)
        return len(self._unsent) + int.from_bytes(self._count, sys.byteorder)

    def send(self, line: bytes) -> None:
        """Write as much of a line as the pipe takes; ``receive`` writes the rest."""
        self._unsent += line
        self._write_unsent()
        if self._unsent:
            self.poll.register(self._stdin, select.POLLOUT)
            self._polls_stdin = True

    def receive(self, wait_ms: float, next_wait_ms: Callable[[], float]) -> bytes:
        """Return the bot's next line without its newline.

        Wait for ``wait_ms`` at first. Whenever the wait is over without a line, call
        ``next_wait_ms``, which returns how long to wait next, in ms, or raises an
        exception to give up. Raises PlayerFault(Fault.OUTPUT) if the bot writes too
        much, and StdoutClosed.
        """
        if not self._received:
            # The fast path: nearly every answer is one whole line in one chunk.
            events = self.poll.poll(wait_ms)
            if events == self._only_stdout:
                chunk = self._read_chunk()
                if 0 <= chunk.find(b"\n") == len(chunk) - 1 <= self._max_line:
                    return chunk[:-1]
                self._received += chunk
            if not events:
                wait_ms = 0.0
        return self._receive_in_pieces(wait_ms, next_wait_ms)

    def _receive_in_pieces(
        self, wait_ms: float, next_wait_ms: Callable[[], float]
    ) -> bytes:
        """Do the same as ``receive``, for a line that comes in several pieces."""
        ends = time.monotonic() + wait_ms / 1e3
        while True:
            if self._received:
                line = take_line(self._received, self._max_line)
                if line is not None:
                    return line
            # One wait may see many pieces, so that a bot that writes single bytes does
            # not cause a call of next_wait_ms for each.
            events = self.poll.poll(wait_ms) if wait_ms > 0 else []
            for fd, _ in events:
                self._serve(fd)
            if not events:
                ends = time.monotonic() + next_wait_ms() / 1e3
            wait_ms = (ends - time.monotonic()) * 1e3

    def flush(self, next_wait_ms: Callable[[], float]) -> None:
        """Write what is left to send. ``next_wait_ms`` is that of ``receive``."""
        poll = select.poll()
        poll.register(self._stdin, select.POLLOUT)
        while self._unsent:
            poll.poll(next_wait_ms())
            self._write_unsent()

    def drain_stderr(self) -> None:
        """Read the rest of stderr after the bot has ended, without waiting."""
        try:
            while unread(self._stderr) and self.stderr_bytes <= self._max_stderr:
                self._read_stderr()
        except PlayerFault:
            pass  # the bot has ended, so it no longer matters that it wrote too much

    def close_stdin(self) -> None:
        """Close the bot's stdin: there will be no more questions."""
        if self._stdin >= 0:
            self._stop_polling_stdin()
            os.close(self._stdin)
            self._stdin = -1

    def close(self) -> None:
        """Close all pipes. ``pending`` and ``stderr`` stay readable."""
        self.close_stdin()
        for fd in (self._stdout, self._stderr):
            if fd >= 0:
                os.close(fd)
        self._stdout = -1
        self._stderr = -1

    def _serve(self, fd: int) -> None:
        """Read from, or write to, a pipe that is ready."""
        if fd == self._stdout:
            self._read_stdout()
        elif fd == self._stderr:
            self._read_stderr()
        else:
            self._write_unsent()
            if not self._unsent:
                self._stop_polling_stdin()

    def _stop_polling_stdin(self) -> None:
        # A closed descriptor that is still polled would be reported for ever.
        if self._polls_stdin:
            self.poll.unregister(self._stdin)
            self._polls_stdin = False

    def _write_unsent(self) -> None:
        try:
            written = os.write(self._stdin, self._unsent)
        except BlockingIOError:
            pass  # the pipe is full
        except OSError:  # the bot closed its stdin; its stdout tells whether it ended
            self._unsent = b""
        else:
            self._unsent = self._unsent[written:]

    def _read_stdout(self) -> None:
        self._received += self._read_chunk()

    def _read_chunk(self) -> bytes:
        """Return the output that is in the pipe now; it may be empty.

        Raises PlayerFault(Fault.OUTPUT) and StdoutClosed.
        """
        try:
            chunk = os.read(self._stdout, _CHUNK_BYTES)
        except BlockingIOError:
            return b""
        self._count_stdout(chunk)
        return chunk

    def _read_stderr(self) -> None:
        try:
            chunk = os.read(self._stderr, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self.poll.unregister(self._stderr)
            return
        self._keep_stderr(chunk)
        self._limit_stderr()
