"""Output that drops text if its reader is gone or paused, instead of waiting."""

import os
import select
from contextlib import suppress
from typing import TextIO


class PatientOutput:
    """A stream of text that never holds up the process which writes to it.

    A pipe that nobody reads, or a terminal that was paused, takes nothing more when it
    is full. Then the text is dropped. A long text is written in parts of
    `select.PIPE_BUF` bytes, because the system says whether there is room for one such
    part; the rest may be dropped. A closed pipe and a full disk stop no process either.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        if self._stream is None:
            return
        with suppress(OSError, ValueError):
            if (descriptor := _descriptor(self._stream)) is None:
                self._stream.write(text)
                return
            data = text.encode(errors="backslashreplace")
            while data and select.select([], [descriptor], [], 0)[1]:
                data = data[os.write(descriptor, data[: select.PIPE_BUF]) :]

    def flush(self) -> None:
        """Do nothing, because `write` keeps nothing back."""


def _descriptor(stream: TextIO) -> int | None:
    """Return the file descriptor of a stream; None if it is in memory."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
