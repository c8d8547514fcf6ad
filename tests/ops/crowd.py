"""Many readers of one service at once, until it ends; a program of its own.

`python crowd.py ADDRESS READERS` prints how many answers of each status there were, and
how long the slowest took, in seconds. Each reader has a connection of its own, reads a
page, thinks (300 readers: six seconds), and reads the next.
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

READS_A_SECOND = 50
"""By all readers together: they share two cores with the players."""
PATHS = (
    "/",
    "/api/v1/ladders/main/leaderboard/",
    "/api/v1/games/",
    "/api/v1/matches/",
    "/bots/house-greedy/",
)


@dataclass
class Seen:
    """What all readers got."""

    answers: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0


async def read(address: str, tls: ssl.SSLContext, pause_s: float, seen: Seen) -> None:
    """Read now and then, until nobody answers any more."""
    async with httpx.AsyncClient(
        base_url=address, timeout=60, trust_env=False, verify=tls
    ) as client:
        cut = 0
        await asyncio.sleep(random.uniform(0, pause_s))
        while True:
            asked = time.monotonic()
            try:
                answer = await client.get(random.choice(PATHS))
            except httpx.TimeoutException:
                seen.answers["too slow"] += 1
            except httpx.ConnectError:
                return
            except httpx.TransportError:
                cut += 1
            else:
                seen.answers[str(answer.status_code)] += 1
                if cut:  # and not because the service ended
                    seen.answers["cut off"] += cut
                    cut = 0
            seen.slowest_s = max(seen.slowest_s, time.monotonic() - asked)
            await asyncio.sleep(pause_s)


async def crowd(address: str, readers: int) -> Seen:
    seen = Seen()
    tls = ssl.create_default_context()  # unused, and each would cost 20 ms
    async with asyncio.TaskGroup() as group:
        for _ in range(readers):
            group.create_task(read(address, tls, readers / READS_A_SECOND, seen))
    return seen


if __name__ == "__main__":
    print(json.dumps(vars(asyncio.run(crowd(sys.argv[1], int(sys.argv[2]))))))
