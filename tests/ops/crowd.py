"""Many readers of one service at once, until it ends; a program of its own.

`python crowd.py ADDRESS READERS` prints how many answers of each status there were.
"""

import asyncio
import json
import random
import sys
from collections import Counter

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


async def read(client: httpx.AsyncClient, pause_s: float, seen: Counter[str]) -> None:
    """Read now and then, until nobody answers any more."""
    rng = random.Random(id(seen))
    await asyncio.sleep(rng.uniform(0, pause_s))
    while True:
        try:
            answer = await client.get(rng.choice(PATHS))
        except httpx.TimeoutException:
            seen["too slow"] += 1
        except httpx.TransportError:
            return
        else:
            seen[str(answer.status_code)] += 1
        await asyncio.sleep(pause_s)


async def crowd(address: str, readers: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    limits = httpx.Limits(max_connections=readers, max_keepalive_connections=readers)
    async with httpx.AsyncClient(
        base_url=address, limits=limits, timeout=60, trust_env=False
    ) as client:
        pause_s = readers / READS_A_SECOND
        async with asyncio.TaskGroup() as group:
            for _ in range(readers):
                group.create_task(read(client, pause_s, seen))
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(crowd(sys.argv[1], int(sys.argv[2])))))
