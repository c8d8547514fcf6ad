"""Seats of finished games are asked again elsewhere, by real bots in real processes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from django.db import connection
from django.test import Client

from ladder.bots import players, services as bots
from ladder.bots.models import Submission
from ladder.dispatch.dispatcher import Dispatcher
from ladder.dispatch.tasks import check_seat
from ladder.extras.spot_checks import selectors, services, work
from ladder.extras.spot_checks.models import SpotCheck, SpotCheckVerdict
from ladder.games import visibility
from ladder.games.models import Attempt, Game, Match, Worker
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from ladder.health import signs
from tests.factories import upload
from tests.games import factories
from tests.games.factories import schedule_match
from torres.runner.sandbox import SandboxUnavailable

ELSEWHERE = "elsewhere:/data"
BOT = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        legal = message["legal"]
        print(json.dumps({"actions": [CHOICE]}), flush=True)
"""
FIRST = BOT.replace("CHOICE", "legal[0]")
LAST = BOT.replace("CHOICE", "legal[-1]")
# Random answers would be equal twice by chance, so each start has its own answers.
VARYING = """
with open("STARTS", "a") as file:
    file.write("x")
    START = file.tell()
""" + BOT.replace("CHOICE", "legal[START % len(legal)]")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("elsewhere"),
]


@pytest.fixture
def elsewhere(settings, data_dir: Path) -> None:
    """Let another installation report, and check every game."""
    settings.TORRES_SANDBOX = "none"
    settings.TORRES_SPOT_CHECKS = 1.0
    registry.register(registry.unlimited(1))
    factories.worker("1-a", host="elsewhere")


@pytest.fixture
def bot(user: Callable) -> Callable[[str, str], Submission]:
    return lambda name, source: upload(
        bots.create_bot(user(f"of-{name}"), name), source.encode()
    )


def played(*sitting: Submission, running: RunningGames | None = None) -> Game:
    """Play a game with real bots here, as if another installation had played it."""
    match = schedule_match(Match.Kind.CHALLENGE, factories.TERMS, sitting)
    game = match.games.get()
    here = registry.current_worker()
    running = RunningGames() if running is None else running
    running.accept(None, running.open_player)
    assert play(game.pk, here, running) == AttemptEnd.FINISHED
    other = Worker.objects.get(name__startswith=ELSEWHERE)
    Attempt.objects.filter(game=game).update(worker=other)
    game.refresh_from_db()
    return game


def choose_all() -> None:
    """Choose a seat of every game. A tick draws at random and may miss some games."""
    while SpotCheck.objects.count() < Game.objects.count():
        services.tick()


def verdicts() -> dict[tuple[int, int], str]:
    while work.run_next():
        pass
    rows = SpotCheck.objects.values_list("game", "seat", "verdict")
    return {(game, seat): verdict for game, seat, verdict in rows}


def lying(submission: Submission, limits: dict[str, int], *, strict_clock: bool):
    """Open another bot than the one that sits there, as a worker that lies."""
    liar = Submission.objects.get(bot__slug="liar")
    return players.open_player(liar, limits, strict_clock=strict_clock)


def test_honest_games_get_the_same_answers_and_their_page_says_so(bot) -> None:
    game = played(bot("ana", FIRST), bot("ben", LAST))

    assert services.tick() == 1
    ((_, verdict),) = verdicts().items()

    assert verdict == SpotCheckVerdict.SAME
    check = SpotCheck.objects.get()
    assert (check.played_on, check.replay) == (ELSEWHERE, None)
    assert check.checked_on == registry.installation()
    page = Client().get(f"/games/{game.pk}/").content.decode()
    assert f"Seat {check.seat} was asked again on another host" in page
    assert services.tick() == 0  # the game has its check


def test_a_bot_that_varies_is_known_and_not_asked_again(bot, tmp_path: Path) -> None:
    submission = bot("ana", VARYING.replace("STARTS", str(tmp_path / "starts")))
    played(submission, submission)
    services.tick()

    assert list(verdicts().values()) == [SpotCheckVerdict.VARIES]

    played(submission, submission)
    assert services.tick() == 0


def test_a_host_that_invents_answers_is_named(bot) -> None:
    bot("liar", LAST)
    honest = [bot(name, FIRST) for name in ("ana", "ben", "cleo")]
    for submission in honest:
        played(submission, submission, running=RunningGames(lying))
    choose_all()

    found = verdicts()

    assert set(found.values()) == {SpotCheckVerdict.DISPUTED}
    assert len(found) == 3
    assert selectors.suspects().keys() == {ELSEWHERE, registry.installation()}
    sign = signs.disputed_answers()
    assert "other answers" in sign.problem
    assert ELSEWHERE in sign.advice


def test_disputes_of_two_bots_name_nobody(bot) -> None:
    bot("liar", LAST)
    for name in ("ana", "ben"):
        submission = bot(name, FIRST)
        played(submission, submission, running=RunningGames(lying))
    choose_all()

    verdicts()

    assert selectors.suspects() == {}
    assert signs.disputed_answers().is_good


def test_an_invented_replay_is_disputed(bot) -> None:
    game = played(bot("ana", FIRST), bot("ben", LAST))
    text = visibility.replay(game).replace(b'"block', b'"king', 1)
    services.tick()
    SpotCheck.objects.update(replay=zstandard.compress(text))

    assert list(verdicts().values()) == [SpotCheckVerdict.DISPUTED]
    assert "The replay is wrong" in SpotCheck.objects.get().note


def test_a_host_that_cannot_ask_tries_three_times(bot, monkeypatch) -> None:
    def no_sandbox(*_: object) -> None:
        raise SandboxUnavailable("no compiler")

    played(bot("ana", FIRST), bot("ben", LAST))
    services.tick()
    monkeypatch.setattr(players, "open_player", no_sandbox)

    assert [work.run_next() for _ in range(4)] == [True, True, True, False]
    assert SpotCheck.objects.get().verdict == SpotCheckVerdict.FAILED


def test_one_installation_does_not_check_itself(bot) -> None:
    game = played(bot("ana", FIRST), bot("ben", LAST))
    Attempt.objects.filter(game=game).update(worker=factories.worker())

    assert services.tick() == 1
    assert not work.run_next()
    SpotCheck.objects.all().delete()

    others = Worker.objects.exclude(name__startswith=registry.installation())
    others.update(drained=True)
    assert services.tick() == 0


@pytest.mark.parametrize(("share", "chosen"), [(0.0, 0), (0.01, 1), (0.5, 2)])
def test_the_share_of_games_is_kept(bot, settings, share: float, chosen: int) -> None:
    settings.TORRES_SPOT_CHECKS = share
    submission = bot("ana", FIRST)
    for _ in range(4):
        played(submission, submission)

    for _ in range(20):
        services.tick()

    assert SpotCheck.objects.count() == chosen


def test_the_dispatcher_chooses_and_a_worker_asks(bot) -> None:
    played(bot("ana", FIRST), bot("ben", LAST))

    Dispatcher().tick()
    check_seat()

    assert SpotCheck.objects.get().verdict == SpotCheckVerdict.SAME


def test_a_worker_that_was_killed_leaves_the_check_to_others(bot) -> None:
    played(bot("ana", FIRST), bot("ben", LAST))
    services.tick()
    assert work.claim() is not None

    assert not work.run_next()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE spot_checks_spotcheck SET lease_until = created_at")

    assert list(verdicts().values()) == [SpotCheckVerdict.SAME]
