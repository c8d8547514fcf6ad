"""Code of the editor plays in the sandbox, and stays within its limits."""

import json
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from engine.replay import verify
from ladder.bots import players
from ladder.dispatch import retention
from ladder.extras.editor import services, work
from ladder.extras.editor.models import TrialGame, TrialStatus
from ladder.extras.practice.host import HOST_STOPS, HostedGame, PracticeHost
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeIsOff
from ladder.games import replays
from ladder.games.attempts import LEASE
from ladder.games.models import Game
from ladder.games.worker.lease_keeper import DEADLINE, LeaseKeeper
from ladder.health import signs
from ladder.ops.chaos import scripted_player
from tests.editor import factories
from tests.editor.factories import GUEST, begin, fresh, host, played
from tests.practice import factories as practice
from torres.common.errors import TooMany
from torres.runner.sandbox import Sandbox, SandboxUnavailable

pytestmark = pytest.mark.django_db(transaction=True)

SYNTAX = "def choose(:\n    pass\n"
LOOP = factories.FIRST_PYTHON.replace(
    "    return [rng", "    while True: legal\n    return [rng"
)
FLOOD = "import sys\nwhile True:\n    sys.stdout.write('x' * 4096)\n"
NOISE = "import sys\nwhile True:\n    sys.stderr.write('x' * 4096)\n"
HOG = "hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 22))\n"
FORKS = "import os, time\nwhile True:\n    if not os.fork():\n        time.sleep(60)\n"


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", factories.FIRST_PYTHON),
        ("javascript", factories.FIRST_JAVASCRIPT),
    ],
)
def test_a_first_bot_plays_a_whole_game(full: Sandbox, language, source) -> None:
    trial = played(source, language)

    assert (trial.status, trial.note, trial.findings) == ("finished", "", [])
    replay = json.loads(replays.unpack(bytes(trial.replay)))
    verify(replay)
    assert replay["result"] == trial.result
    assert replay["players"][trial.seat] == {"name": "Your code"}
    assert not Game.objects.exists()


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "cause"),
    [
        (SYNTAX, "syntax-error"),
        (LOOP, "thinks-too-long"),
        (FLOOD, "floods-stdout"),
        (NOISE, "floods-stderr"),
        (HOG, "memory"),
        (FORKS, "too-many-processes"),
    ],
)
def test_a_bad_bot_stays_bounded_and_learns_why(full: Sandbox, source, cause) -> None:
    trial = played(source)

    assert trial.status == "finished"
    assert [finding["code"] for finding in trial.findings] == [cause]
    assert len(trial.log) < 20_000
    assert trial.result["ranks"][trial.seat] == 2


def test_a_damaged_row_fails_alone(monkeypatch) -> None:
    monkeypatch.setattr(work, "play_form", None)
    for column in ({"language": "cobol"}, {"ruleset": "none"}, {"findings": {}}):
        trial = begin()
        TrialGame.objects.filter(pk=trial.pk).update(**column)
        host()
        assert (fresh(trial).status, fresh(trial).note) == ("failed", work.FAILED)


def test_a_host_without_the_full_sandbox_runs_no_code_of_a_guest(monkeypatch) -> None:
    def refuse(level: str) -> Sandbox:
        raise SandboxUnavailable(level)

    monkeypatch.setattr(players, "sandbox_at", refuse)
    trial = begin(by=GUEST)
    host()

    assert (fresh(trial).status, fresh(trial).note) == ("failed", work.UNSAFE)


def test_code_of_guests_needs_the_full_sandbox_and_code_of_users_that_of_uploads(
    settings, monkeypatch
) -> None:
    asked: list[str] = []

    def refuse(level: str) -> Sandbox:
        asked.append(level)
        raise SandboxUnavailable(level)

    monkeypatch.setattr(players, "sandbox_at", refuse)
    begin(by=GUEST)
    settings.TORRES_SANDBOX = "reduced"
    begin()
    host()
    host()

    assert asked == ["reduced", "full"]  # users come before guests
    with pytest.raises(PracticeIsOff, match="Sign in to run it"):
        begin(by=GUEST)


@pytest.mark.parametrize(
    ("reason", "note"),
    [(HOST_STOPS, services.INTERRUPTED), (DEADLINE, work.TOO_LONG)],
)
@pytest.mark.sandbox
def test_a_game_that_must_stop_says_why(full: Sandbox, reason, note) -> None:
    trial = begin()
    held = services.claim("here")
    assert held is not None
    keeper = LeaseKeeper("trial", lambda: held.renew(LEASE), deadline_s=60)
    keeper.start()
    keeper.stop(reason)

    work.play(held, keeper)

    assert (fresh(trial).status, fresh(trial).note) == ("failed", note)


def test_a_trial_ends_by_itself_if_its_host_was_killed() -> None:
    trial = begin()
    held = services.claim("here")
    assert held is not None
    assert services.end_lifeless() == 0
    TrialGame.objects.update(lease_until=Now() - timedelta(seconds=1))

    assert services.end_lifeless() == 1

    assert (fresh(trial).status, fresh(trial).note) == ("failed", services.INTERRUPTED)
    assert not services.end(held, TrialStatus.FINISHED, note="late")
    assert services.claim("there") is None


def test_a_trial_does_not_wait_for_ever() -> None:
    trial = begin()
    TrialGame.objects.update(created_at=Now() - 2 * services.MAX_WAIT)
    sign = signs.games_by_hand()

    assert services.end_lifeless() == 1
    assert fresh(trial).note == services.NOBODY_FREE
    assert "no host of them is running" in sign.problem


def test_a_person_runs_one_game_at_a_time() -> None:
    begin()
    begin(by=GUEST)

    for by in ("ana", GUEST):
        with pytest.raises(TooMany, match="has not ended yet"):
            begin(by=by)


def end_all() -> None:
    TrialGame.objects.update(status="failed", ended_at=Now())


def test_code_runs_a_few_times_in_an_hour(settings) -> None:
    settings.TORRES_TRIALS_PER_HOUR = 2
    for _ in range(2):
        begin()
        begin(by=GUEST)
        end_all()

    for by in ("ana", GUEST):
        with pytest.raises(TooMany, match="2 times in an hour"):
            begin(by=by)
    begin(by=GUEST, address="192.0.2.2")
    begin(by="ben")
    settings.TORRES_TRIALS_PER_HOUR = 0
    with pytest.raises(PracticeIsOff, match="runs no code"):
        begin(by="cleo")


def test_guests_leave_half_of_the_queue_to_users(monkeypatch) -> None:
    monkeypatch.setattr(services, "MAX_WAITING", 2)
    guest = begin(by=GUEST)
    with pytest.raises(TooMany, match="Too many people"):
        begin(by=factories.Guest("8" * 32), address="192.0.2.2")
    mine = begin()
    with pytest.raises(TooMany, match="Too many people"):
        begin(by="ben")

    order = [services.claim("here") for _ in range(3)]
    assert [held and held.pk for held in order] == [mine.pk, guest.pk, None]


def test_few_trials_are_kept_and_none_longer_than_a_day() -> None:
    trials = []
    for _ in range(services.KEPT_TRIALS + 1):
        trials.append(begin())
        end_all()
    assert list(TrialGame.objects.order_by("pk")) == trials[1:]
    TrialGame.objects.exclude(pk=trials[-1].pk).update(
        created_at=Now() - timedelta(days=2)
    )
    rule = next(one for one in retention.rules() if one.name == "trials")

    assert rule.delete(100) == services.KEPT_TRIALS - 1
    User.objects.get(username="ana").delete()
    assert not TrialGame.objects.exists()


class FakeTrials:
    """Begins trials that end when they are told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.end = threading.Event()

    def begin(self) -> HostedGame | None:
        self.begun += 1
        thread = threading.Thread(target=self.end.wait)
        thread.start()
        keeper = LeaseKeeper("trial", lambda: True, deadline_s=60)
        return HostedGame(thread, keeper, is_trial=True)


def test_one_statement_finds_a_trial_or_a_game_that_waits() -> None:
    work.waits()  # composes the query

    with CaptureQueriesContext(connection) as asked:
        assert not work.waits()
    assert len(asked) <= 1

    practice.begin(practice.make_house(), by="ana")
    assert work.waits()


def test_a_host_looks_for_nothing_if_nothing_waits() -> None:
    trials = FakeTrials()
    waiting = [False, True]
    host = PracticeHost(1, begin_trial=trials.begin, waits=lambda: bool(waiting.pop(0)))

    host._step()
    assert trials.begun == 0

    host._step()
    assert trials.begun == 1
    trials.end.set()


def running() -> int:
    return PracticeGame.objects.filter(status="running").count()


@pytest.mark.parametrize(("slots", "games"), [(1, 0), (2, 1), (3, 2)])
def test_games_and_trials_do_not_take_the_slots_of_each_other(slots, games) -> None:
    bot = practice.make_house()
    for name in ("ana", "ben", "cleo"):
        practice.begin(bot, by=name)
    trials, stop = FakeTrials(), threading.Event()
    practice_host = PracticeHost(
        slots, scripted_player.open_player, stop.wait, trials.begin
    )
    # The host looks once for games, and then waits to be stopped.
    practice_host._step()

    assert (trials.begun, running()) == (1, games)

    trials.end.set()
    for game in practice_host._games:
        if game.is_trial:
            game.thread.join()
    practice_host._step()
    stop.set()
    practice_host._close()
    if slots == 1:  # they take turns
        assert (trials.begun, running()) == (1, 1)
    else:
        assert (trials.begun, running()) == (2, games)
