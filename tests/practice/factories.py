"""Practice games for tests: a person, bots, a host in a thread, and legal answers."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.contrib.auth.models import User
from django.db import connection

from engine.referee import Answer, Ask
from ladder.bots.models import Bot, Submission
from ladder.extras.practice import selectors, services
from ladder.extras.practice.host import PracticeHost
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeTerms
from ladder.games.worker.play import OpenPlayer
from ladder.ops.chaos import scripted_player
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from tests import factories

T = TypeVar("T")
WAIT_S = 600.0  # nothing here measures how fast a machine is


def person(name: str = "ana") -> User:
    return User.objects.get_or_create(username=name)[0]


def open_bot(name: str, owner: str = "ben") -> Submission:
    """Return the submission of a bot that everybody may play against."""
    submission = factories.make_bot(name, owner)
    submission.bot.open_to_practice = True
    submission.bot.save()
    return submission


def begin(
    *sitting: Submission, by: str = "ana", seat: int = 0, ruleset: str = "yucata"
) -> PracticeGame:
    keys = [submission.pk for submission in sitting]
    return services.begin(person(by), PracticeTerms(ruleset, keys, seat))


def own_game(*, seat: int = 0) -> PracticeGame:
    """Return a waiting game of Ana against her own bot."""
    return begin(factories.make_bot("mason", "ana"), seat=seat)


class NotingPlayer(ScriptedPlayer):
    """A scripted player that says what it thinks."""

    def decide(self, ask: Ask) -> Answer:
        answer = super().decide(ask)
        answer.note = f"at {ask.ply}"
        return answer


def noting(submission, limits, *, strict_clock=False):
    return NotingPlayer(submission.digest)


@contextmanager
def hosting(
    slots: int = 1, open_player: OpenPlayer = scripted_player.open_player
) -> Iterator[None]:
    """Run a host in a thread of this process."""
    stop = threading.Event()
    host = PracticeHost(slots, open_player)
    thread = threading.Thread(target=host.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WAIT_S)
    assert not thread.is_alive()


def until(look: Callable[[], T]) -> T:
    """Return the first true value of `look`."""
    deadline = time.monotonic() + WAIT_S
    while not (value := look()):
        assert time.monotonic() < deadline, "it took too long"
        threading.Event().wait(0.02)
        connection.close()
    return value


def fresh(game: PracticeGame) -> PracticeGame:
    return PracticeGame.objects.get(pk=game.pk)


def asked(game: PracticeGame) -> PracticeGame | None:
    """Return the row if the person is asked, or if the game has ended."""
    row = fresh(game)
    return row if not row.is_open or selectors.question(row) else None


def answer(game: PracticeGame, answers: int | None = None) -> PracticeGame:
    """Answer as the referee does for a forfeited seat, to the end or to this number."""
    count = 0
    row = until(lambda: asked(game))
    while row.is_open and count != answers:
        question = selectors.question(row)
        services.answer(row, row.ply, question.automatic())
        count += 1
        row = until(lambda: asked(game))
    return row


def make_house() -> Submission:
    """Return the submission of a house bot."""
    found = Submission.objects.filter(bot__house=True).first()
    if found is None:
        found = factories.make_bot("landmark", "nobody")
        Bot.objects.filter(pk=found.bot_id).update(house=True, owner=None)
    return found
