"""The output of a bot, as lines and of limited size: shared by all kinds of pipes."""

from typing import BinaryIO

from engine.faults import Fault
from engine.referee import PlayerFault
from torres.runner.protocol import STDERR_PER_STDOUT, STDERR_TAIL_BYTES, Limits


class StdoutClosed(Exception):
    """The bot closed its stdout, or has ended."""


def take_line(received: bytearray, max_bytes: int) -> bytes | None:
    """Remove the first whole line from the output; None if there is none yet.

    Raises PlayerFault(Fault.OUTPUT) if the line is too long.
    """
    end = received.find(b"\n")
    too_long = end > max_bytes
    if too_long or (end < 0 and len(received) > max_bytes):
        raise PlayerFault(Fault.OUTPUT, f"a line of more than {max_bytes} bytes")
    if end < 0:
        return None
    line = bytes(received[:end])
    del received[: end + 1]
    return line


class BotOutput:
    """The line that a bot has begun, the end of its stderr, and how much it wrote.

    ``log`` gets all of stderr, up to its limit.
    """

    def __init__(self, limits: Limits, log: BinaryIO | None) -> None:
        self._max_line = limits.line_bytes
        self._max_stdout = limits.output_bytes
        self._max_stderr = STDERR_PER_STDOUT * limits.output_bytes
        self._log = log
        self._received = bytearray()
        self._stdout_bytes = 0
        self._stderr_tail = bytearray()
        self.stderr_bytes = 0
        """The number of bytes that the bot has written to stderr so far."""

    @property
    def pending(self) -> bytes:
        """The output of the bot that is not a whole line yet."""
        return bytes(self._received)

    @property
    def stderr(self) -> bytes:
        """The last ``STDERR_TAIL_BYTES`` of the bot's stderr."""
        return bytes(self._stderr_tail[-STDERR_TAIL_BYTES:])

    def _count_stdout(self, chunk: bytes) -> None:
        """Count what a bot wrote. Raises PlayerFault(Fault.OUTPUT) and StdoutClosed."""
        if not chunk:
            raise StdoutClosed
        self._stdout_bytes += len(chunk)
        if self._stdout_bytes > self._max_stdout:
            raise PlayerFault(
                Fault.OUTPUT, f"more than {self._max_stdout} bytes in all on stdout"
            )

    def _keep_stderr(self, chunk: bytes) -> None:
        """Log what a bot wrote to stderr, and keep its end."""
        self.stderr_bytes += len(chunk)
        if self._log is not None:
            self._log.write(chunk)
        self._stderr_tail += chunk
        # Cutting only at twice the size saves a copy of the tail for each chunk.
        if len(self._stderr_tail) > 2 * STDERR_TAIL_BYTES:
            del self._stderr_tail[:-STDERR_TAIL_BYTES]

    def _limit_stderr(self) -> None:
        """Raise PlayerFault(Fault.OUTPUT) if a bot has written too much to stderr."""
        if self.stderr_bytes > self._max_stderr:
            raise PlayerFault(
                Fault.OUTPUT, f"more than {self._max_stderr} bytes on stderr"
            )
