"""A program that simulates many readers of a service until the service ends.

`python simulated_readers.py ADDRESS READERS` prints the number of responses by status
and the duration of the slowest one in seconds, as JSON. Each reader has its own
connection, reads a page, pauses, and reads the next one. The length of the pause makes
all readers together read READS_PER_SECOND pages.
"""

import asyncio
import json
import random
import ssl
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx

READS_PER_SECOND = 50  # by all readers: they share two cores with the games
PATHS = (
    "/",
    "/api/v1/ladders/main/leaderboard/",
    "/api/v1/games/",
    "/api/v1/matches/",
    "/bots/house-greedy/",
)


@dataclass
class ResponseCounts:
    """The responses that all readers got."""

    statuses: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0


async def read(
    address: str, tls: ssl.SSLContext, pause_s: float, counts: ResponseCounts
) -> None:
    """Read a page, pause, and repeat until the service does not respond any more."""
    async with httpx.AsyncClient(
        base_url=address, timeout=60, trust_env=False, verify=tls
    ) as client:
        broken = 0
        await asyncio.sleep(random.uniform(0, pause_s))
        while True:
            started = time.monotonic()
            try:
                response = await client.get(random.choice(PATHS))
            except httpx.TimeoutException:
                counts.statuses["timeout"] += 1
            except httpx.ConnectError:
                return
            except httpx.TransportError:
                broken += 1
            else:
                if not counts.statuses:
                    print("reading", file=sys.stderr, flush=True)
                counts.statuses[str(response.status_code)] += 1
                if broken:  # the service still runs, so its end was not the cause
                    counts.statuses["connection broken"] += broken
                    broken = 0
            counts.slowest_s = max(counts.slowest_s, time.monotonic() - started)
            await asyncio.sleep(pause_s)


async def simulate(address: str, readers: int) -> ResponseCounts:
    counts = ResponseCounts()
    # Not used for HTTP, but otherwise each client would create its own in 20 ms.
    tls = ssl.create_default_context()
    async with asyncio.TaskGroup() as group:
        for _ in range(readers):
            pause_s = readers / READS_PER_SECOND
            group.create_task(read(address, tls, pause_s, counts))
    return counts


if __name__ == "__main__":
    print(json.dumps(vars(asyncio.run(simulate(sys.argv[1], int(sys.argv[2]))))))
