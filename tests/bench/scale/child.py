# ruff: noqa: E402 -- Django is set up first
"""Fills the database of the environment if it is empty, and measures it.

`python -m tests.bench.scale.child GAMES TABLE` prints the rows as JSON for its parent.
"""

import json
import subprocess
import sys
from contextlib import redirect_stdout

import django

django.setup()

from django.conf import settings
from django.core.management import call_command

from ladder.games.models import Game
from tests.bench.scale import routes, rows
from tests.bench.scale.report import ROWS_PREFIX
from tests.bench.sizes import size
from tests.fill.command import Command

MIN_BOTS = size(200, short=20)
GAMES_PER_BOT = 100
TABLES = {"costs": rows.all_rows, "routes": routes.route_rows}


def main(games: int, table: str) -> None:
    with redirect_stdout(sys.stderr):
        call_command("migrate", verbosity=0)
        if not Game.objects.exists():
            bots = max(MIN_BOTS, games // GAMES_PER_BOT)
            call_command(Command(), bots=bots, games=games)
        for report in (("run_job", "second_opinion"), ("anomalies",)):
            # Else a dispatcher starts it, beside what is measured. The commands lower
            # the priority of their process, so it must not be this one.
            command = [sys.executable, settings.BASE_DIR / "manage.py", *report]
            subprocess.run(command, check=True, stdout=sys.stderr)
        filled = Game.objects.filter(match__kind="ladder").count()
        measured = []
        for row in TABLES[table]():
            # The parent prints the table at the end, which may be an hour away.
            print(f"{row.cpu:9.1f} {row.least_cpu:9.1f} {row.wall:9.1f} {row.name}")
            measured.append(row)
    print(ROWS_PREFIX + json.dumps({"games": filled, "rows": measured}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
