"""The editor's side of the Debug Adapter Protocol, as far as a test needs it."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

Message = dict[str, Any]
_TIMEOUT_S = 120


class Debugger:
    """A debugger that is attached to a process. Use it in a `with` statement."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_S)
        self._stream = self._socket.makefile("rwb")
        self._sent = 0
        self._early: list[Message] = []
        """What came while something else was awaited, such as an event."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._socket.close()

    def attach(self, source: Path, line: int) -> None:
        """Begin to debug, with a breakpoint in a file."""
        self.request("initialize", adapterID="tests", pathFormat="path")
        self._send("attach", justMyCode=True)
        self._receive(lambda message: message.get("event") == "initialized")
        lines = [{"line": line}]
        self.request("setBreakpoints", source={"path": str(source)}, breakpoints=lines)
        self.request("configurationDone")

    def stopped(self) -> tuple[int, Message]:
        """Wait for the breakpoint; return the thread and its innermost frame."""
        event = self._receive(lambda message: message.get("event") == "stopped")
        thread = event["body"]["threadId"]
        frames = self.request("stackTrace", threadId=thread)["stackFrames"]
        return thread, frames[0]

    def go_on(self, source: Path, thread: int) -> None:
        """Let the process run to its end, without breakpoints in the file.

        Its response is not awaited: a process that ends at once closes the connection
        before, because the bot is killed when its answer is there.
        """
        self.request("setBreakpoints", source={"path": str(source)}, breakpoints=[])
        self._send("continue", threadId=thread)

    def request(self, command: str, **arguments: object) -> Message:
        """Send a request and return the body of its response."""
        number = self._send(command, **arguments)
        response = self._receive(lambda each: each.get("request_seq") == number)
        assert response["success"], response
        body: Message = response.get("body", {})
        return body

    def _send(self, command: str, **arguments: object) -> int:
        self._sent += 1
        request = {
            "seq": self._sent,
            "type": "request",
            "command": command,
            "arguments": arguments,
        }
        content = json.dumps(request).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._stream.flush()
        return self._sent

    def _receive(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first such message, and keep the others for later."""
        for message in self._early:
            if wanted(message):
                self._early.remove(message)
                return message
        while not wanted(message := self._read()):
            self._early.append(message)
        return message

    def _read(self) -> Message:
        length = 0
        while header := self._stream.readline().strip():
            length = int(header.rpartition(b":")[2])
        message: Message = json.loads(self._stream.read(length))
        return message
