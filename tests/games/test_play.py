"""A game from the claim to its end, in this process, with scripted players."""

import json
import threading

import pytest
from django.db import InterfaceError, InternalError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from structlog.testing import capture_logs

from engine import replay
from engine.faults import Fault
from engine.referee import PlayerFault, ServiceFault
from ladder.games import attempts, replays, services
from ladder.games.models import AnswerBatch, Attempt, Game, Match, Seat, SeatLog
from ladder.games.shares import deadline_s
from ladder.games.worker import engine_adapter, registry
from ladder.games.worker.play import (
    RUNNING_GAMES,
    AttemptEnd,
    RunningGames,
    _claim,
    play,
)
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from tests.games import factories
from torres.runner.verdict import SeatOutput

pytestmark = pytest.mark.django_db(transaction=True)


class Nasty(ScriptedPlayer):
    """Writes to stderr, then misbehaves in a way that depends on its bot's name."""

    def __init__(self, submission) -> None:
        super().__init__(submission.digest)
        self.bot = submission.bot.slug
        self.stderr = ""
        self.killed = threading.Event()

    def start(self, hello) -> None:
        super().start(hello)
        self.stderr = f"{self.bot} says hello\n"
        if self.bot == "mute":
            raise PlayerFault(Fault.TIMEOUT, "not ready after 10000 ms")
        if self.bot == "unlucky":
            raise ServiceFault("the disk is full")
        if self.bot == "bug":
            raise ZeroDivisionError

    def decide(self, ask):
        if self.bot.startswith("breaker") and ask.decision == "turn":
            raise ValueError("file descriptor cannot be a negative integer (-1)")
        if self.bot == "thinker" and ask.ply > 2:
            assert self.killed.wait(30)
            raise PlayerFault(Fault.CRASH, "it ended")
        return super().decide(ask)

    def kill(self) -> None:
        self.killed.set()
        if self.bot == "undying":
            raise OSError("the process cannot be killed")

    def output(self) -> SeatOutput:
        return SeatOutput(stderr=self.stderr)


def open_nasty(submission, _limits, *, strict_clock):
    return Nasty(submission)


@pytest.fixture(autouse=True)
def _nasty(monkeypatch):
    monkeypatch.setattr(RUNNING_GAMES, "open_player", open_nasty)


def one(*slugs: str) -> Game:
    return factories.match([factories.bot(slug) for slug in slugs]).games.get()


def test_a_finished_game_is_stored_and_can_be_verified():
    game = one("ana", "ben", "cleo")

    assert play(game.pk, registry.current_worker()) == AttemptEnd.FINISHED

    game.refresh_from_db()
    text = replays.unpack(bytes(game.replay))
    document = json.loads(text)
    replay.verify(document)
    assert document["seed"] == game.match.seed
    assert document["players"][1]["bot"] == "ben"
    assert document["result"]["scores"] == [seat.score for seat in game.seats.all()]
    assert game.engine == document["engine"]
    assert SeatLog.objects.get(number=2).stderr == "cleo says hello\n"


def test_the_same_hint_again_plays_nothing():
    game = one("ana", "ben")

    ends = [play(game.pk, registry.current_worker()) for _ in range(5)]

    assert ends == [AttemptEnd.FINISHED] + [AttemptEnd.NOT_TAKEN] * 4


def test_a_fault_is_public_and_its_detail_is_not():
    game = one("mute", "ben")

    play(game.pk, registry.current_worker())

    seat = Seat.objects.get(game=game, number=0)
    assert (seat.fault, seat.rank) == ("timeout", 2)
    assert seat.fault_detail == "not ready after 10000 ms"
    assert b"10000" not in replays.unpack(bytes(Game.objects.get().replay))[-200:]


def play_out(game: Game, most: int) -> list[AttemptEnd]:
    """Play a game until it has ended, in `most` attempts at the most."""
    ends = []
    while len(ends) < most and (not ends or ends[-1] == AttemptEnd.FAILED):
        ends.append(play(game.pk, registry.current_worker()))
    return ends


def test_a_seat_that_breaks_every_attempt_forfeits():
    """Otherwise a bot could escape from each game that it is about to lose."""
    game = one("ana", "breaker")

    ends = play_out(game, 5)

    assert ends == [AttemptEnd.FAILED] * 3 + [AttemptEnd.FINISHED]
    ana, breaker = game.seats.order_by("number")
    assert (ana.rank, ana.fault, ana.blamed) == (1, "", False)
    assert (breaker.rank, breaker.fault, breaker.blamed) == (2, "crash", True)
    assert "every attempt at this game failed" in breaker.fault_detail
    assert [a.seat for a in game.attempts.order_by("fence")] == [1, 1, 1, None]
    game.refresh_from_db()
    replay.verify(json.loads(replays.unpack(bytes(game.replay))))


@pytest.mark.parametrize(
    ("slug", "alarm"), [("breaker", "seat is blamed"), ("bug", "game is dead")]
)
def test_an_operator_is_alarmed_by_the_last_failure(slug: str, alarm: str):
    game = one("ana", slug)

    with capture_logs() as lines:
        play_out(game, 5)

    alarms = [line for line in lines if line["log_level"] == "critical"]
    assert [(line["event"], line["game"]) for line in alarms] == [(alarm, game.pk)]


def test_each_seat_that_breaks_attempts_is_blamed_in_its_turn():
    game = one("breaker-1", "ana", "breaker-2")

    ends = play_out(game, 10)

    assert ends == [AttemptEnd.FAILED] * 6 + [AttemptEnd.FINISHED]
    faults = game.seats.order_by("number").values_list("fault", flat=True)
    assert list(faults) == ["crash", "", "crash"]


def test_a_game_that_fails_without_a_seat_is_dead():
    game = one("ana", "bug")

    ends = play_out(game, 5)

    assert ends == [AttemptEnd.FAILED] * 3 + [AttemptEnd.NOT_TAKEN]
    game.refresh_from_db()
    assert game.status == "dead"
    assert not game.seats.filter(blamed=True).exists()


def test_a_revived_game_has_all_its_attempts_again():
    game = one("ana", "bug")
    play_out(game, 5)
    services.revive(game.pk)

    assert play_out(game, 5) == [AttemptEnd.FAILED] * 3 + [AttemptEnd.NOT_TAKEN]


def test_the_clock_is_strict_after_an_attempt_that_failed_in_the_seat(monkeypatch):
    strict = []

    def open_player(submission, limits, *, strict_clock):
        strict.append((submission.bot.slug, strict_clock))
        return Nasty(submission)

    monkeypatch.setattr(RUNNING_GAMES, "open_player", open_player)
    game = one("ana", "breaker")

    play_out(game, 2)

    assert strict == [
        ("ana", False),
        ("breaker", False),
        ("ana", False),
        ("breaker", True),
    ]


def test_a_slow_ladder_has_a_longer_deadline(settings):
    match = one("ana", "ben").match
    match.limits = match.limits | {"move_ms": 60_000, "bank_ms": 600_000}

    assert deadline_s(match.limits, match.seats) > 2 * 3 * (48 * 60 + 600)
    settings.TORRES_MAX_GAME_SECONDS = 10**6
    assert deadline_s(match.limits, match.seats) == 10**6


@pytest.mark.parametrize("name", ["unlucky", "bug"])
def test_a_fault_of_the_service_blames_no_seat_and_the_game_is_played_again(name):
    game = one(name, "ben")

    assert play(game.pk, registry.current_worker()) == AttemptEnd.FAILED

    game.refresh_from_db()
    assert (game.status, game.failures) == ("scheduled", 1)
    assert Seat.objects.filter(rank__isnull=False).count() == 0


@pytest.mark.parametrize("name", ["unlucky", "undying"])
def test_a_failed_attempt_keeps_what_each_seat_left_behind(name):
    game = one(name, "ben")

    assert play(game.pk, registry.current_worker()) == AttemptEnd.FAILED

    log = SeatLog.objects.get(number=0)
    assert (log.stderr, log.attempt.fence) == (f"{name} says hello\n", 1)


def in_thread(
    game: Game, running: RunningGames
) -> tuple[threading.Thread, list[AttemptEnd]]:
    ends: list[AttemptEnd] = []

    def run() -> None:
        ends.append(play(game.pk, registry.current_worker(), running))
        connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, ends


def wait_until(condition, seconds: float = 20.0) -> None:
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError(f"the condition did not hold within {seconds} s")


def test_answers_are_stored_while_a_bot_thinks():
    game = one("ana", "thinker")
    running = RunningGames(open_nasty)
    thread, ends = in_thread(game, running)

    wait_until(lambda: AnswerBatch.objects.filter(attempt__game=game).exists())
    running.stop_all("stop", grace_s=0)
    thread.join()

    assert ends == [AttemptEnd.RELEASED]
    game.refresh_from_db()
    assert (game.status, game.failures) == ("scheduled", 0)


def test_players_are_closed_if_a_later_seat_cannot_be_opened(monkeypatch):
    opened = []

    class Recorder:
        killed = False

        def kill(self) -> None:
            self.killed = True

    def open_first(_submission, _limits, *, strict_clock):
        if opened:
            raise ServiceFault("no room for a second player")
        opened.append(Recorder())
        return opened[0]

    monkeypatch.setattr(RUNNING_GAMES, "open_player", open_first)
    game = one("a", "b")

    assert play(game.pk, registry.current_worker()) == AttemptEnd.FAILED
    assert [player.killed for player in opened] == [True]


def test_a_lost_lease_kills_the_players_and_the_result_is_not_written(monkeypatch):
    monkeypatch.setattr("ladder.games.worker.lease_keeper.RENEW_INTERVAL_S", 0.1)
    game = one("ana", "thinker")
    thread, ends = in_thread(game, RunningGames(open_nasty))
    wait_until(Attempt.objects.exists)

    attempts.release(game.pk, 1, "given away")
    thread.join()

    assert ends == [AttemptEnd.RELEASED]
    game.refresh_from_db()
    assert (game.status, game.fence) == ("scheduled", 1)


def test_the_deadline_fails_the_attempt_and_not_the_bot(settings):
    settings.TORRES_MAX_GAME_SECONDS = 0
    game = one("ana", "thinker")
    tiny = {"start_ms": 1, "bank_ms": 1, "move_ms": 1}
    Match.objects.update(limits=game.match.limits | tiny)

    assert play(game.pk, registry.current_worker()) == AttemptEnd.FAILED
    assert "too long" in Attempt.objects.get().reason


def test_play_does_not_raise_if_the_database_is_away(monkeypatch):
    def away(*_):
        raise OperationalError("the server went away")

    monkeypatch.setattr(attempts, "claim", away)

    assert play(1, 1) == AttemptEnd.UNKNOWN


@pytest.mark.parametrize("step", ["load", "doubted_seats", "claim"])
def test_play_does_not_raise_whatever_a_row_makes_it_do(monkeypatch, step):
    """One row with impossible terms must not end the task of a worker."""

    def broken(*_):
        raise KeyError("move_ms")

    module = engine_adapter if step == "load" else attempts
    monkeypatch.setattr(module, step, broken)
    game = one("ana", "ben")

    assert play(game.pk, registry.current_worker()) == AttemptEnd.UNKNOWN
    game.refresh_from_db()
    assert game.status == "scheduled"
    assert game.failures == (step != "claim")


def test_a_game_is_claimed_and_read_in_one_transaction():
    game = one("ana", "ben")
    worker = registry.current_worker()

    with CaptureQueriesContext(connection) as asked:
        _claim(game.pk, worker, RunningGames())

    texts = [query["sql"] for query in asked]
    assert sum("BEGIN" in text for text in texts) == 1, texts
    assert not [text for text in texts if "SAVEPOINT" in text]


@pytest.mark.parametrize("error", [OperationalError, InterfaceError, InternalError])
def test_a_result_waits_for_a_database_that_comes_back(monkeypatch, error):
    """InternalError comes from a server that has become a read-only standby."""
    real_finish = attempts.finish
    calls = []

    def finish(*args):
        calls.append(args)
        if len(calls) < 3:
            raise error("the server restarts")
        return real_finish(*args)

    monkeypatch.setattr(attempts, "finish", finish)
    monkeypatch.setattr("ladder.games.worker.play.WRITE_RETRY_INTERVAL_S", 0.01)

    assert play(one("ana", "ben").pk, registry.current_worker()) == AttemptEnd.FINISHED
    assert len(calls) == 3


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no standby")
def test_a_result_waits_for_a_server_that_is_a_read_only_standby(monkeypatch):
    real_finish = attempts.finish
    refusals = []

    def finish(*args):
        if len(refusals) < 2:
            with connection.cursor() as cursor:
                cursor.execute("SET default_transaction_read_only = on")
        try:
            return real_finish(*args)
        except InternalError as error:
            refusals.append(str(error))
            raise

    monkeypatch.setattr(attempts, "finish", finish)
    monkeypatch.setattr("ladder.games.worker.play.WRITE_RETRY_INTERVAL_S", 0.01)

    assert play(one("ana", "ben").pk, registry.current_worker()) == AttemptEnd.FINISHED
    assert len(refusals) == 2
    assert "read-only transaction" in refusals[0]


def test_no_transaction_is_open_while_a_bot_thinks(monkeypatch):
    disconnected = []

    def decide(self, ask):
        disconnected.append(connection.connection is None)
        return ScriptedPlayer.decide(self, ask)

    monkeypatch.setattr(Nasty, "decide", decide)

    play(one("ana", "ben").pk, registry.current_worker())

    assert disconnected
    assert all(disconnected)
