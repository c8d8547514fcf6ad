"""Read an export with the client of `torres`, and go on where a killed reader was.

    python -m tests.soak.export_reader ADDRESS KIND FILE [NAME=VALUE …]

appends the number of each game to the file, one in a line. The last whole line tells
where to go on, because in the usual order the cursor is the number of a game.
The program prints its memory in MiB at the first game, and at most.
"""

import os
import sys
from pathlib import Path

from tests.soak.web_services import ProcessMemory
from torres.cli.client import LadderClient, Login


def last_number(file: Path) -> str:
    """Return the last whole line, and remove what follows it."""
    text = file.read_text() if file.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    file.write_text(whole)
    return whole.splitlines()[-1] if whole else ""


def main() -> None:
    address, kind, name, *words = sys.argv[1:]
    filters: dict[str, object] = dict(word.split("=") for word in words)
    if last := last_number(Path(name)):
        filters["cursor"] = last
    memory = ProcessMemory(os.getpid())
    at_first = 0.0
    # Each line is written at once, so that a kill comes in the middle of an export.
    lines = Path(name).open("a", buffering=1)  # noqa: SIM115 - closed below
    with LadderClient(Login(address, "")) as ladder, lines as file:
        read = ladder.exported_games if kind == "games" else ladder.exported_replays
        for row in read(**filters):
            at_first = at_first or memory.now()
            number = row["id"] if kind == "replays" else row["game"]["id"]
            file.write(f"{number}\n")
    print(f"{at_first:.0f} {memory.peak():.0f}")


if __name__ == "__main__":
    main()
