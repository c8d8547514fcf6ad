"""Lines to and from one bot over three pipes that may do anything.

Nothing here blocks for ever and nothing grows without bound: a bot that never reads
costs no more than its clock, a line and the whole output have a limit, of stderr the
last 64 KiB are kept.
"""

import os
import select
import sys
import time
from collections.abc import Callable
from fcntl import ioctl
from termios import FIONREAD
from typing import BinaryIO

from engine.faults import Fault
from engine.referee import PlayerFault
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Running
from ladder.runner.sandbox.proc import unread

STDERR_KEPT = 65_536
"""Bytes of the end of stderr that are kept for the owner."""
STDERR_TIMES_OUTPUT = 16
"""A bot may write so many times its stdout limit to stderr, in bytes."""
_CHUNK = 16_384
"""Python takes memory for so much before it reads: more is slower for short lines."""
_NOTHING = bytes(4)


class Closed(Exception):
    """The bot closed its stdout, or is gone."""


class BotPipes:
    """Our ends of a bot's pipes. Owned by one thread."""

    def __init__(self, bot: Running, limits: Limits, log: BinaryIO | None) -> None:
        self._in, self._out, self._err = bot.stdin, bot.stdout, bot.stderr
        self._most, self._most_output = limits.line_bytes, limits.output_bytes
        self._log = log
        self._unsent = b""
        self._received = bytearray()
        self._output = 0
        self._errors = 0
        self._tail = bytearray()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._count = bytearray(4)
        self._said = [(self._out, select.POLLIN)]
        """What polling tells when the bot has written, and nothing else happened."""

    @property
    def pending(self) -> bytes:
        """What the bot wrote that is no whole line yet."""
        return bytes(self._received)

    @property
    def stderr(self) -> bytes:
        """The end of what the bot wrote to stderr."""
        return bytes(self._tail[-STDERR_KEPT:])

    def early(self) -> bytes | None:
        """Return what lies there although nothing was asked, or None."""
        ioctl(self._out, FIONREAD, self._count)
        if self._count == _NOTHING and not self._received:
            return None
        try:
            self._read_out()
        except Closed:
            if not self._received:
                return None
        return bytes(self._received)

    def unread_by_bot(self) -> int:
        """Return how many bytes of what was sent the bot has not read yet."""
        ioctl(self._in, FIONREAD, self._count)
        if self._count == _NOTHING:
            return len(self._unsent)
        return len(self._unsent) + int.from_bytes(self._count, sys.byteorder)

    def send(self, line: bytes) -> None:
        """Queue a line and write what fits now; ``receive`` writes the rest."""
        self._unsent += line
        self._flush()
        if self._unsent:
            self._poll.register(self._in, select.POLLOUT)

    def receive(self, wait_ms: float, left: Callable[[], float]) -> bytes:
        """Return the next line without its newline.

        Waits ``wait_ms`` and then as long as ``left()`` says, in milliseconds; it
        raises what ends the wait. Raises PlayerFault(Fault.OUTPUT) and Closed.
        """
        rest = wait_ms
        if not self._received:
            events = self._poll.poll(rest)
            if events == self._said:
                chunk = self._read_chunk()
                if 0 <= chunk.find(b"\n") == len(chunk) - 1 <= self._most:
                    return chunk[:-1]  # so nearly every answer comes
                self._received += chunk
            rest = rest if events else 0.0
        ends = time.monotonic() + rest / 1e3
        while not self._received or (line := self._line()) is None:
            # A line may come in pieces: only when the wait is over it is looked at.
            events = self._poll.poll(rest) if rest > 0 else []
            for fd, _ in events:
                self._serve(fd)
            if not events:
                ends = time.monotonic() + left() / 1e3
            rest = (ends - time.monotonic()) * 1e3
        return line

    def _line(self) -> bytes | None:
        """Return the first whole line and forget it; None if there is none yet."""
        received, most = self._received, self._most
        end = received.find(b"\n")
        if end > most or (end < 0 and len(received) > most):
            raise PlayerFault(Fault.OUTPUT, f"a line of more than {most} bytes")
        if end < 0:
            return None
        line = bytes(received[:end])
        del received[: end + 1]
        return line

    def flush(self, left: Callable[[], float]) -> None:
        """Write what is queued, as long as ``left()`` lets it wait."""
        poll = select.poll()
        poll.register(self._in, select.POLLOUT)
        while self._unsent:
            poll.poll(left())
            self._flush()

    def settle(self) -> None:
        """Take what is still in the pipes after the end, without waiting."""
        try:
            while unread(self._err) and self._errors <= self._most_errors:
                self._read_err()
        except PlayerFault:
            pass  # it has ended: what it wrote too much no longer matters

    def hang_up(self) -> None:
        """Close the bot's stdin: there will be no more questions."""
        if self._in >= 0:
            if self._unsent:
                self._poll.unregister(self._in)
            os.close(self._in)
            self._in = -1

    def close(self) -> None:
        """Close everything; what was kept stays readable."""
        self.hang_up()
        for fd in (self._out, self._err):
            if fd >= 0:
                os.close(fd)
        self._out = self._err = -1

    def _serve(self, fd: int) -> None:
        if fd == self._out:
            self._read_out()
        elif fd == self._err:
            self._read_err()
        else:
            self._flush()
            if not self._unsent:
                self._poll.unregister(self._in)

    def _flush(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:  # nobody reads any more: stdout will say why
            self._unsent = b""

    def _read_out(self) -> None:
        self._received += self._read_chunk()

    def _read_chunk(self) -> bytes:
        """Return what lies in the bot's stdout, if anything. Raises Closed."""
        try:
            chunk = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            raise Closed
        self._output += len(chunk)
        if self._output > self._most_output:
            most = self._most_output
            raise PlayerFault(Fault.OUTPUT, f"more than {most} bytes in all on stdout")
        return chunk

    @property
    def _most_errors(self) -> int:
        return STDERR_TIMES_OUTPUT * self._most_output

    def _read_err(self) -> None:
        try:
            chunk = os.read(self._err, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._poll.unregister(self._err)
            return
        self._errors += len(chunk)
        if self._log is not None:
            self._log.write(chunk)
        self._tail += chunk
        if len(self._tail) > 2 * STDERR_KEPT:
            del self._tail[:-STDERR_KEPT]
        if self._errors > self._most_errors:
            most = self._most_errors
            raise PlayerFault(Fault.OUTPUT, f"more than {most} bytes on stderr")
