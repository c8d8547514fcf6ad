"""The output of a bot as lines: the code that the pipes of all systems share."""

from engine.faults import Fault
from engine.referee import PlayerFault


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
