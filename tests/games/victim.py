"""A worker that stops at a named point of one game, says HERE, and waits to be killed.

python tests/games/victim.py POINT GAME, with the database in the environment.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
os.environ["TORRES_OPEN_PLAYER"] = "victim.open_player"

import django

django.setup()

from ladder.games import workers  # noqa: E402
from ladder.games.play import play  # noqa: E402
from ladder.ops.scripted import Scripted  # noqa: E402
from ladder.ratings import rater  # noqa: E402
from ladder.ratings.models import Season  # noqa: E402

POINT = sys.argv[1]


def wait_for_death(here: str) -> None:
    if here == POINT:
        print("HERE", flush=True)
        sys.stdin.read()


class Slow(Scripted):
    def start(self, hello):
        wait_for_death("while bots start")
        super().start(hello)

    def decide(self, ask):
        if ask.ply > 10:
            wait_for_death("mid-game")
        return super().decide(ask)

    def end(self, scores, ranks, reason):
        wait_for_death("before the finish transaction")


def open_player(submission, seat, limits, log):
    wait_for_death("after the claim")
    return Slow(submission.digest)


if __name__ == "__main__":
    sys.modules["victim"] = sys.modules["__main__"]
    play(int(sys.argv[2]), workers.here())
    wait_for_death("before the rating")
    rater.fold(Season.objects.get().pk)
    wait_for_death("after the rating")
