"""Games go to workers that can play them, and wait if there are none."""

import pytest
from django.core.management import call_command

from ladder.dispatch.hints import HintPlanner
from ladder.games import attempts, capabilities, selectors, services
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Attempt, Game, Worker
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from ladder.ops.chaos.scripted_player import open_player
from tests.games import factories
from tests.games.test_attempts import RESULT

EVERYTHING = ["python", "go", "java"]


def group(*languages: str, level: str = "full", rules: str = "1", slots: int = 1):
    return WorkerGroup(capabilities.offers(languages, level, rules), slots)


def test_a_game_needs_its_languages_the_level_and_the_rules():
    uploaded = capabilities.needs([("go", False), ("python", True)], "full")
    house = capabilities.needs([("python", True), ("python", True)], "full")

    assert uploaded == "full go python rules-1"
    assert house == "python rules-1"


@pytest.mark.parametrize(
    ("workers", "capable"),
    [
        (group("go", "python"), True),
        (group("go", "python", "java", rules="2"), True),
        (group("python"), False),
        (group("go", "python", level="none"), False),
        (group("go", "python", rules="0"), False),
        (WorkerGroup(None, 1), True),
    ],
)
def test_a_worker_is_capable_if_it_offers_every_tag(workers, capable):
    assert capabilities.fit("go python reduced rules-1", workers.offered) is capable


def test_a_sandbox_level_includes_the_lower_levels():
    assert capabilities.fit("reduced", group(level="full").offered)
    assert not capabilities.fit("full", group(level="reduced").offered)


def test_missing_tags_are_those_of_the_best_worker_and_have_a_remedy():
    pool = WorkerPool([group("python"), group("python", "java", level="none")])

    missing = pool.missing_tags("full go python rules-1")

    assert missing == ["go"]
    assert "apt-get install golang-go" in capabilities.remedy(missing)
    assert "torres doctor" in capabilities.remedy(["full"])
    assert "update this software" in capabilities.remedy(["rules-7"])


def make(language: str, k: int = 0, **values: object) -> Game:
    """Schedule a game of two new bots in a language."""
    bots = [factories.bot(f"{language}-{k}-{seat}") for seat in range(2)]
    for bot in bots:
        bot.submissions.update(language=language)
    game = factories.match(bots).games.get()
    Game.objects.filter(pk=game.pk).update(**values or {"priority": 0})
    return game


def add_worker(name: str, *languages: str, slots: int = 2) -> None:
    Worker.objects.create(
        name=f"{name}#1",
        host=name,
        languages=list(languages),
        sandbox="full",
        versions={"rules": "1"},
        slots=slots,
    )


def plan() -> dict[int, str]:
    """Return the queue of each game that gets a hint now."""
    planner = HintPlanner(selectors.worker_pool(), selectors.open_games())
    planner.fill()
    return {hint.game: hint.queue for hint in planner.hints}


@pytest.mark.django_db
def test_if_all_workers_are_capable_the_common_queue_is_used():
    add_worker("a", *EVERYTHING)
    add_worker("b", "go")
    one = make("go")

    assert plan() == {one.pk: "play"}


@pytest.mark.django_db
def test_a_game_goes_to_the_workers_that_have_its_language():
    add_worker("a", "python")
    add_worker("b", "python", "go")
    one, two = make("go"), make("python")
    (capable,) = selectors.worker_pool().capable(one.needs)

    assert plan() == {one.pk: capable.queue, two.pk: "play"}
    assert capable.queue.startswith("only-")


@pytest.mark.django_db
def test_games_that_no_worker_can_play_do_not_delay_others():
    add_worker("a", "python", slots=1)
    for k in range(5):
        make("go", k, priority=5)
    free = make("python")

    assert plan() == {free.pk: "play"}


@pytest.mark.django_db
def test_a_small_group_gets_no_long_queue_and_other_games_go_on():
    add_worker("a", "python", slots=4)
    add_worker("b", "python", "go", slots=1)
    for k in range(6):
        make("go", k)
    rest = [make("python", k).pk for k in range(6)]

    hints = plan()

    queues = list(hints.values())
    assert sum(queue.startswith("only-") for queue in queues) == 2
    assert [game for game, queue in hints.items() if queue == "play"] == rest


@pytest.mark.django_db
def test_status_says_which_games_wait_for_what(capsys):
    add_worker("a", "python")
    make("go", 1)

    call_command("status", "--totals")

    out = capsys.readouterr().out
    assert "waiting: 1 games need go; on a worker, apt-get install golang-go" in out
    assert "worker a#1: 2 slots, load 0.0, sandbox full, not measured, python" in out


@pytest.mark.django_db(transaction=True)
def test_a_hint_to_a_worker_that_is_not_capable_is_no_failure():
    one = make("go", 1)
    running = RunningGames(open_player)
    running.accept(group("python").offered)

    assert play(one.pk, registry.current_worker(), running) == AttemptEnd.NOT_TAKEN

    one.refresh_from_db()
    assert (one.status, one.failures) == ("scheduled", 0)
    assert Attempt.objects.get().outcome == "released"
    running.accept(group("go").offered)
    assert play(one.pk, registry.current_worker(), running) == AttemptEnd.FINISHED


@pytest.mark.django_db
def test_a_replacement_needs_what_the_voided_game_needed(settings):
    one = make("go")
    attempts.finish(attempts.claim(one.pk, registry.current_worker()), RESULT)

    assert services.void(one.pk, "our fault").needs == "full go rules-1"


@pytest.mark.django_db
def test_a_drain_survives_a_restart_until_it_is_undone():
    me = registry.current_worker()
    registry.drain(me, "bots fail here")
    Worker.objects.filter(pk=me).update(name=f"{registry.installation()}#before")

    again = registry.current_worker()

    assert again != me
    assert Worker.objects.get(pk=again).drained
    call_command("operator", "undrain", registry.installation(), "--why=repaired")
    assert not Worker.objects.filter(drained=True).exists()
