"""Real bots that seem to be the machine's victims, in games of the service."""

import contextlib
import json
import os
import signal
from contextlib import ExitStack

import pytest
from structlog.testing import capture_logs

from engine.referee import Answer, Ask
from ladder.bots.players import SubmissionPlayer
from ladder.events.models import Fact
from ladder.games.models import Game
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from tests.games import factories
from tests.runner.factories import PROGRAMS
from torres.runner.languages import locate
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox
from torres.tlog.leaves import LeafKind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sandbox]


class KilledPlayer(SubmissionPlayer):
    """A bot whose sandbox is killed from outside before it answers."""

    def decide(self, ask: Ask) -> Answer:
        for pid in set(self._bot._bot.threads()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return super().decide(ask)


def running(sandbox: Sandbox, *, killed: str = "") -> RunningGames:
    """Play submissions with the program of the same name as their bot."""

    def open_player(submission, limits, *, strict_clock):
        slug = submission.bot.slug
        kind = KilledPlayer if slug == killed else SubmissionPlayer
        program = locate(PROGRAMS / f"{slug.replace('-', '_')}.py")
        return kind(
            program, sandbox, Limits(**limits), ExitStack(), strict_clock=strict_clock
        )

    return RunningGames(open_player)


def game_of(*slugs: str) -> Game:
    return factories.match([factories.bot(slug) for slug in slugs]).games.get()


@pytest.mark.parametrize("name", ["exit-as-if-killed", "kill-itself"])
def test_a_bot_that_seems_to_be_killed_gets_no_second_game(full, name: str) -> None:
    """When it was behind, its game was played again with the same deal, twice."""
    game = game_of("first", name)

    assert play(game.pk, registry.current_worker(), running(full)) == "finished"

    (attempt,) = game.attempts.all()
    assert (attempt.outcome, attempt.bot, attempt.evidence) == ("finished", None, None)
    faults = game.seats.order_by("number").values_list("fault", flat=True)
    assert list(faults) == ["", "crash"]


def test_the_evidence_is_stored_with_the_attempt_and_logged(full) -> None:
    game = game_of("first", "nap")
    bot = game.seats.get(number=0).bot

    with capture_logs() as lines:
        end = play(game.pk, registry.current_worker(), running(full, killed="first"))

    assert end == AttemptEnd.FAILED
    attempt = game.attempts.get()
    assert (attempt.outcome, attempt.seat, attempt.bot) == ("failed", 0, bot)
    ended = {"code": None, "signal": 9, "by_host": True}
    assert attempt.evidence["exit"] == ended
    assert attempt.evidence["counters"]["oom_kills"] == 0
    assert attempt.evidence["charge"]["wall_ms"] >= 0
    assert "memory_peak" in attempt.evidence
    (line,) = [line for line in lines if line["event"] == "attempt failed"]
    assert (line["bot"], line["evidence"]["exit"]) == ("first", ended)
    assert "check" not in line["reason"]
    logged = json.loads(Fact.objects.get(leaf_kind=LeafKind.ATTEMPT_ENDED).leaf_data)
    assert (logged["outcome"], logged["seat"], logged["exit"]) == ("failed", 0, ended)
    assert set(logged["counters"]) == {"oom_kills", "forks_refused", "frozen"}
