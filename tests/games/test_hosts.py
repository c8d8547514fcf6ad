"""Which hosts have tried a game, which of them live, and what they share."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from ladder.games import attempts, selectors, services
from ladder.games.attempts import Outage
from ladder.games.models import Game, Worker
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from tests.games import factories

pytestmark = pytest.mark.django_db


def fail_once(game: Game, host: str, process: str = "1") -> str:
    claim = attempts.claim(game.pk, factories.worker(process, host))
    assert attempts.fail(claim, "the disk is full")
    game.refresh_from_db()
    return game.status


def test_after_three_failed_attempts_on_two_hosts_a_game_is_dead():
    game = factories.game()
    seats = list(game.seats.values_list("submission", flat=True))

    ends = [fail_once(game, host) for host in ("ana", "ben", "ana")]

    assert ends == ["scheduled", "scheduled", "dead"]
    assert game.note == "the disk is full"
    assert list(game.seats.values_list("submission", flat=True)) == seats
    assert selectors.service_state().failed_attempts == 3


def test_a_second_host_tries_before_a_game_is_dead():
    game = factories.game()
    factories.worker(host="ben")

    ends = [fail_once(game, "ana") for _ in range(3)]

    assert ends[-1] == "scheduled"
    assert fail_once(game, "ben") == "dead"


def test_processes_of_one_broken_host_are_one_witness():
    """A supervisor restarts the worker of the broken host after each failure."""
    game = factories.game()
    factories.worker(host="ben")

    ends = [fail_once(game, "ana", process=str(pid)) for pid in range(4)]

    assert ends[-1] == "scheduled"
    assert fail_once(game, "ben") == "dead"


@pytest.mark.parametrize("state", ["silent", "drained", "without slots"])
def test_a_host_that_cannot_play_is_no_other_host(state):
    game = factories.game()
    other = Worker.objects.filter(pk=factories.worker(host="ben"))
    changes = {
        "silent": {"seen_at": Now() - timedelta(days=365)},
        "drained": {"drained": True},
        "without slots": {"slots": 0},
    }
    other.update(**changes[state])

    assert [fail_once(game, "ana") for _ in range(3)][-1] == "dead"


def test_if_there_is_only_one_host_three_failures_are_enough():
    game = factories.game()

    assert [fail_once(game, "ana") for _ in range(3)][-1] == "dead"


def lose_lease(game: Game, host: str, ago: float = 1) -> None:
    """Claim a game; its lease ended some seconds ago, and its worker was lost then."""
    attempts.claim(game.pk, factories.worker(host=host))
    ended = Now() - timedelta(seconds=ago)
    Game.objects.filter(pk=game.pk).update(lease_until=ended)
    Worker.objects.filter(pk=factories.worker(host=host)).update(
        seen_at=ended - attempts.LEASE
    )


def test_a_lease_that_ended_in_an_outage_of_the_database_is_no_failure():
    game = factories.game()
    outage = Outage(began=timedelta(seconds=40), ended=timedelta(seconds=2))
    for _ in range(4):
        lose_lease(game, "ana", ago=10)
        assert attempts.reap(outage) == [game.pk]

    game.refresh_from_db()
    assert (game.status, game.failures) == ("scheduled", 0)
    assert set(game.attempts.values_list("outcome", flat=True)) == {"released"}


@pytest.mark.parametrize(("began", "ended"), [(300, 60), (5, 1)])
def test_a_lease_that_ended_before_or_after_an_outage_is_a_failure(began, ended):
    game = factories.game()
    lose_lease(game, "ana", ago=10)

    attempts.reap(Outage(timedelta(seconds=began), timedelta(seconds=ended)))

    game.refresh_from_db()
    assert game.failures == 1


@pytest.mark.parametrize(("others_seen_ago", "failures"), [(35, 0), (3, 1), (999, 1)])
def test_if_all_hosts_fell_silent_at_once_none_is_to_blame(others_seen_ago, failures):
    game = factories.game()
    other = Worker.objects.filter(pk=factories.worker(host="ben"))
    other.update(seen_at=Now() - timedelta(seconds=others_seen_ago))
    lose_lease(game, "ana")

    attempts.reap()

    game.refresh_from_db()
    assert game.failures == failures


@pytest.mark.django_db(transaction=True)
def test_a_refused_claim_of_a_waiting_game_gives_the_hint_back():
    game = factories.game()
    services.mark_sent([game.pk], "play")
    worker = factories.worker()
    registry.drain(worker, "sick")

    running = RunningGames()
    assert play(game.pk, worker, running) == AttemptEnd.NOT_TAKEN

    assert [due.game for due in selectors.due(10)] == [game.pk]
    assert running.refused.is_set()


def test_a_worker_that_was_signed_off_plays_again_after_its_next_report():
    game = factories.game()
    me = registry.current_worker()
    registry.sign_off(me, "by mistake")
    assert attempts.claim(game.pk, me) is None

    assert registry.register(registry.unlimited(slots=1)) == me

    assert attempts.claim(game.pk, me)


def test_a_live_worker_of_the_same_installation_is_not_signed_off(tmp_path):
    """A worker of Celery runs beside `up`, on the same host and data folder."""
    code = (
        "import django; django.setup();"
        " from ladder.games.worker import registry;"
        " print(registry._name(__import__('os').getpid()), flush=True); input()"
    )
    beside = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "ladder.settings",
            "TORRES_DATA": str(settings.DATA_DIR),
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    name = beside.stdout.readline().strip()
    row = Worker.objects.create(name=name, host="here")

    registry.sign_off_predecessors()
    row.refresh_from_db()
    assert row.gone_at is None

    beside.communicate("\n")
    registry.sign_off_predecessors()
    row.refresh_from_db()
    assert row.gone_at is not None


def drained() -> set[str]:
    return set(Worker.objects.filter(drained=True).values_list("host", flat=True))


@pytest.mark.parametrize(
    ("name", "hosts"),
    [
        ("host-1/", {"host-1"}),
        ("host-1:/data", {"host-1"}),
        ("host-1:/data#a", {"host-1"}),
    ],
)
def test_a_drain_names_whole_workers_and_says_which(name, hosts, capsys):
    """The name was a prefix: host-1 drained host-10, too."""
    for host in ("host-1", "host-10"):
        factories.worker(host=host)

    call_command("operator", "drain", name, "--why=a test")

    assert drained() == hosts
    assert capsys.readouterr().out.splitlines()[1:] == ["host-1:/data#a"]
    call_command("operator", "undrain", name, "--why=a test")
    assert drained() == set()


@pytest.mark.parametrize("name", ["host-1", "host", "", "/", "host-1:/dat"])
def test_a_part_of_a_name_drains_nothing(name):
    factories.worker(host="host-1")

    with pytest.raises(CommandError, match="whole name"):
        call_command("operator", "drain", name, "--why=a test")

    assert drained() == set()


def test_status_shows_lost_workers_until_they_are_replaced_or_forgotten():
    lost = factories.worker("1", host="ana")
    old = factories.worker("1", host="ben")
    replaced = factories.worker("1", host="cleo")
    factories.worker("2", host="cleo")
    minute = timedelta(minutes=1)
    Worker.objects.filter(pk__in=[lost, replaced]).update(seen_at=Now() - 5 * minute)
    Worker.objects.filter(pk=old).update(seen_at=Now() - timedelta(days=300))

    assert [worker.pk for worker in selectors.silent_workers()] == [lost]


def test_the_health_check_of_a_worker_looks_at_this_host_alone(capsys):
    factories.worker("other", host="ana")
    with pytest.raises(CommandError, match=r"No worker of .* reports"):
        call_command("status", "--worker")

    own = factories.worker("own")
    call_command("status", "--worker")

    Worker.objects.filter(pk=own).update(seen_at=Now() - timedelta(minutes=5))
    with pytest.raises(CommandError, match=r"No worker of .* reports"):
        call_command("status", "--worker")
    assert capsys.readouterr().out == ""
