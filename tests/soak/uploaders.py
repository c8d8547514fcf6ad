"""Upload bots to a service, all at the same moment, with the client of `torres`.

The program reads a JSON object with `address`, `bytes`, and `authors` (pairs of the
slug of a bot and a token). It prints one with the statuses of all responses, the pauses
before repeated requests, the seconds and the submission of each upload, and the errors.
"""

import io
import json
import os
import sys
import threading
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx

from torres.cli import client as client_module
from torres.cli.client import LadderClient, Login, RemoteError

BOT = "print('a bot that is never played')\n"


def archive(size: int) -> bytes:
    """Return a zip of this size in bytes, with contents that nobody else has."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        packed.writestr("bot.py", BOT)
        packed.writestr("weights.bin", os.urandom(size))
    return target.getvalue()


def main() -> None:
    order = json.load(sys.stdin)
    authors = order["authors"]
    statuses: Counter[int] = Counter()
    pauses: list[float] = []
    together = threading.Barrier(len(authors))

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        threading.Event().wait(seconds)

    def count(answer: httpx.Response) -> None:
        statuses[answer.status_code] += 1

    def upload(author: list[str]) -> dict[str, object]:
        bot, token = author
        content = archive(order["bytes"])
        with LadderClient(Login(order["address"], token)) as ladder:
            ladder._http.event_hooks = {"response": [count]}
            together.wait()
            began = time.monotonic()
            try:
                submission = ladder.upload(bot, "bot.zip", content)
            except RemoteError as error:
                return {"error": str(error), "seconds": time.monotonic() - began}
            return {
                "submission": submission["id"],
                "seconds": time.monotonic() - began,
            }

    client_module.pause = pause  # type: ignore[assignment]
    with ThreadPoolExecutor(len(authors)) as pool:
        results = list(pool.map(upload, authors))
    print(
        json.dumps(
            {
                "statuses": {str(status): n for status, n in statuses.items()},
                "pauses": pauses,
                "seconds": sorted(row["seconds"] for row in results),
                "submissions": [row.get("submission") for row in results],
                "errors": [row["error"] for row in results if "error" in row],
            }
        )
    )


if __name__ == "__main__":
    main()
