"""A worker that stops at a named point of one game and waits to be killed.

Usage: python tests/games/victim.py POINT GAME, with DATABASE_URL in the environment.
It prints HERE when it has reached the point.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")

import django

django.setup()

from ladder.games import attempts  # noqa: E402
from ladder.games.worker import registry  # noqa: E402
from ladder.games.worker.play import RunningGames, play  # noqa: E402
from ladder.ops.chaos.scripted_player import ScriptedPlayer  # noqa: E402
from ladder.ratings import ledger_writer, rater  # noqa: E402
from ladder.ratings.models import Season  # noqa: E402

POINT = sys.argv[1]


def wait_for_death(here: str) -> None:
    if here == POINT:
        print("HERE", flush=True)
        sys.stdin.read()


class SlowVictim(ScriptedPlayer):
    def start(self, hello):
        wait_for_death("while bots start")
        super().start(hello)

    def decide(self, ask):
        if ask.ply > 10:
            wait_for_death("mid-game")
        return super().decide(ask)


def open_player(submission, limits, *, strict_clock):
    wait_for_death("after the claim")
    return SlowVictim(submission.digest)


def dying(function, *, before="", after):
    """Wrap a function so that this process can stop before or after a call."""

    def wrapped(*args):
        wait_for_death(before)
        value = function(*args)
        wait_for_death(after)
        return value

    return wrapped


if __name__ == "__main__":
    attempts.finish = dying(
        attempts.finish,
        before="before the finish transaction",
        after="after the finish transaction",
    )
    ledger_writer.store_ratings = dying(
        ledger_writer.store_ratings, after="while the rating is written"
    )
    play(int(sys.argv[2]), registry.current_worker(), RunningGames(open_player))
    wait_for_death("before the rating")
    rater.fold(Season.objects.get().pk)
    wait_for_death("after the rating")
