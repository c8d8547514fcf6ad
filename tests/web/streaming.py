"""A reader of server-sent events, as far as our streams need it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

TIMEOUT_S = 60  # generous, because the machine may be busy


class Message(NamedTuple):
    event: str
    data: Any
    number: int | None


@contextmanager
def stream(address: str, **headers: str) -> Iterator[Iterator[Message]]:
    """Open a stream; yield an iterator of its messages."""
    with (
        httpx.Client(timeout=TIMEOUT_S) as client,
        client.stream("GET", address, headers=headers) as response,
    ):
        assert response.status_code == 200, response.read()
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield messages(response.iter_lines())


def messages(lines: Iterator[str]) -> Iterator[Message]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            number = int(fields["id"]) if "id" in fields else None
            yield Message(fields["event"], json.loads(fields["data"]), number)
            fields = {}
